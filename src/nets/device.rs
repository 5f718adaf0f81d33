//! Where the networks run: a GPU through wgpu, or the CPU.
//!
//! Adapters are looked at with wgpu before burn touches one, because burn reports a missing GPU by panicking. A software adapter (a GPU
//! imitated on the CPU) is far slower than burn's own CPU code, so it is never chosen automatically. A small product decides at the end: a
//! driver that computes wrongly or not at all is no device.
//!
//! Half precision means: the weights of linear layers are kept and multiplied in it, and everything between the products (biases,
//! normalisations, softmaxes, residual sums, positions) stays in single precision, as PyTorch's automatic mixed precision has it.

use std::fmt;

use burn::tensor::{DType, Device, FloatDType, Tensor, TensorData};

use super::preference::{DeviceChoice, DevicePreference, PrecisionChoice};

/// What a chosen device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeviceKind {
    Cpu,
    Gpu,
    /// A GPU interface computed by the CPU (llvmpipe, WARP).
    SoftwareGpu,
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
            Self::SoftwareGpu => "software-gpu",
        })
    }
}

/// Why there is no device.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    #[error("no GPU can be used: {0}; use --device cpu or auto")]
    NoGpu(String),
    #[error("this program was built without the CPU's network code (feature 'flex'); use --device gpu")]
    NoCpu,
    #[error("half precision is not to be had on {device}: {reason}; use --precision f32 or auto")]
    NoHalf { device: String, reason: String },
}

/// How finely linear layers multiply on a chosen device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Precision {
    #[default]
    F32,
    F16,
}

impl Precision {
    /// Its name for people and in the names of caches.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
        }
    }

    /// burn's type for it.
    pub const fn dtype(self) -> DType {
        match self {
            Self::F32 => DType::F32,
            Self::F16 => DType::F16,
        }
    }
}

/// Where the tensors of a network are put, and how finely its linear layers multiply.
#[derive(Clone, Debug)]
pub struct Target {
    pub device: Device,
    pub precision: Precision,
}

impl From<&Device> for Target {
    /// In single precision.
    fn from(device: &Device) -> Self {
        Self { device: device.clone(), precision: Precision::F32 }
    }
}

impl From<&ChosenDevice> for Target {
    fn from(chosen: &ChosenDevice) -> Self {
        Self { device: chosen.device.clone(), precision: chosen.precision }
    }
}

/// A device on which a small computation went right.
#[derive(Clone, Debug)]
pub struct ChosenDevice {
    /// burn's handle.
    pub device: Device,
    /// Name for people: the adapter's, or `CPU`.
    pub name: String,
    pub kind: DeviceKind,
    pub precision: Precision,
    /// Why it was this one, where that is worth saying.
    pub note: Option<String>,
}

impl ChosenDevice {
    /// `cpu`, `gpu` or `software-gpu`, and the precision where it is not f32. Results of different kinds differ, so caches keep them apart
    /// by this.
    pub fn kind_name(&self) -> String {
        match self.precision {
            Precision::F32 => self.kind.to_string(),
            half => format!("{}-{}", self.kind, half.name()),
        }
    }

    /// Whether it is reached as a GPU, a software adapter included.
    pub fn is_gpu(&self) -> bool {
        self.kind != DeviceKind::Cpu
    }
}

/// Finds the device for `preference`, and whether it multiplies in half precision.
///
/// # Errors
/// For [`DeviceChoice::Gpu`] when no adapter is there or works; for the CPU when its code is not part of this build; for
/// [`PrecisionChoice::F16`] where the device does not compute in it.
pub fn choose(preference: DevicePreference) -> Result<ChosenDevice, DeviceError> {
    let chosen = match preference.device {
        DeviceChoice::Cpu => cpu(None),
        DeviceChoice::Gpu => gpu(true).map_err(DeviceError::NoGpu),
        DeviceChoice::Auto => match gpu(false) {
            Ok(found) => Ok(found),
            Err(reason) => cpu(Some(reason)),
        },
    }?;
    let precision = match preference.precision {
        PrecisionChoice::F32 => Precision::F32,
        // Elsewhere half precision is slower than single.
        PrecisionChoice::Auto if chosen.kind != DeviceKind::Gpu => Precision::F32,
        PrecisionChoice::Auto => halves(&chosen).map_or(Precision::F32, |()| Precision::F16),
        PrecisionChoice::F16 => match halves(&chosen) {
            Ok(()) => Precision::F16,
            Err(reason) => return Err(DeviceError::NoHalf { device: chosen.name, reason }),
        },
    };
    let slow = precision == Precision::F16 && chosen.kind != DeviceKind::Gpu;
    let note = if slow { Some("half precision is slower here than f32; it shows what a GPU would find".to_owned()) } else { chosen.note };
    Ok(ChosenDevice { precision, note, ..chosen })
}

/// Whether a device multiplies in half precision, and rightly.
///
/// # Errors
/// Says why not.
fn halves(chosen: &ChosenDevice) -> Result<(), String> {
    if !chosen.device.supports_dtype(FloatDType::F16) {
        return Err("its shaders do not compute in 16 bits (SHADER_F16)".to_owned());
    }
    computes(&chosen.device, Precision::F16)
}

#[cfg(feature = "flex")]
fn cpu(note: Option<String>) -> Result<ChosenDevice, DeviceError> {
    Ok(ChosenDevice { device: Device::flex(), name: "CPU".to_owned(), kind: DeviceKind::Cpu, precision: Precision::F32, note })
}

#[cfg(not(feature = "flex"))]
fn cpu(_note: Option<String>) -> Result<ChosenDevice, DeviceError> {
    Err(DeviceError::NoCpu)
}

#[cfg(not(feature = "wgpu"))]
fn gpu(_software_allowed: bool) -> Result<ChosenDevice, String> {
    Err("this program was built without GPU code (feature 'wgpu')".to_owned())
}

/// The best adapter that passes [`computes`], or why there is none.
#[cfg(feature = "wgpu")]
fn gpu(software_allowed: bool) -> Result<ChosenDevice, String> {
    use burn::tensor::DeviceKind as Selector;
    use wgpu::DeviceType;

    let adapters = adapters();
    let first = |wanted: DeviceType| adapters.iter().find(|adapter| adapter.device_type == wanted);
    let software = first(DeviceType::Cpu);
    let real = [
        (DeviceType::DiscreteGpu, Selector::DiscreteGpu(0)),
        (DeviceType::IntegratedGpu, Selector::IntegratedGpu(0)),
        (DeviceType::VirtualGpu, Selector::VirtualGpu(0)),
    ]
    .into_iter()
    .find_map(|(wanted, selector)| first(wanted).map(|adapter| (adapter, selector, DeviceKind::Gpu, None)));
    let taken = match (real, software) {
        (Some(real), _) => real,
        (None, Some(adapter)) if software_allowed => {
            let note = "a software adapter: the CPU would be faster".to_owned();
            (adapter, Selector::Cpu, DeviceKind::SoftwareGpu, Some(note))
        }
        (None, Some(adapter)) => return Err(format!("the only graphics adapter, {}, is software", adapter.name)),
        (None, None) => return Err("no graphics adapter was found".to_owned()),
    };
    let (adapter, selector, kind, note) = taken;
    let device = Device::wgpu(selector);
    computes(&device, Precision::F32).map_err(|reason| format!("{} does not compute: {reason}", adapter.name))?;
    Ok(ChosenDevice { device, name: format!("{} ({:?})", adapter.name, adapter.backend), kind, precision: Precision::F32, note })
}

/// The adapters of the graphics interfaces that burn uses.
#[cfg(feature = "wgpu")]
fn adapters() -> Vec<wgpu::AdapterInfo> {
    use std::sync::OnceLock;

    // Kept for the program's life: creating and dropping instances on several threads crashes some Vulkan loaders.
    static INSTANCE: OnceLock<wgpu::Instance> = OnceLock::new();
    let instance = INSTANCE.get_or_init(|| {
        wgpu::Instance::new(wgpu::InstanceDescriptor {
            backends: wgpu::Backends::PRIMARY,
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        })
    });
    ready(instance.enumerate_adapters(wgpu::Backends::PRIMARY)).iter().map(wgpu::Adapter::get_info).collect()
}

/// The result of a future that only looks asynchronous outside of browsers.
#[cfg(feature = "wgpu")]
fn ready<T>(future: impl Future<Output = T>) -> T {
    use std::task::{Context, Poll, Waker};

    let mut future = std::pin::pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return value;
        }
        std::thread::yield_now();
    }
}

/// Multiplies two small matrices of `precision` on `device` and checks the product against plain arithmetic.
///
/// # Errors
/// When the device panics, fails or computes something else; says which.
pub fn computes(device: &Device, precision: Precision) -> Result<(), String> {
    const SIDE: usize = 16;
    let matrix = |factor: usize| -> Vec<f32> { (0..SIDE * SIDE).map(|i| ((i * factor) % 13) as f32 - 6.0).collect() };
    let (a, b) = (matrix(5), matrix(7));
    let product = std::panic::catch_unwind(|| {
        let tensor = |values: &[f32]| Tensor::<2>::from_data(TensorData::new(values.to_vec(), [SIDE, SIDE]), (device, precision.dtype()));
        tensor(&a).matmul(tensor(&b)).cast(FloatDType::F32).try_into_vec_as::<f32>().map_err(|e| e.to_string())
    })
    .map_err(|panic| panic_text(&*panic))??;
    for (i, found) in product.iter().enumerate() {
        let (row, column) = (i / SIDE, i % SIDE);
        // Whole numbers this small (36·16 at most) are exact in f32 and in f16.
        let expected: f32 = (0..SIDE).map(|k| a[row * SIDE + k] * b[k * SIDE + column]).sum();
        if (found - expected).abs() > 1e-3 * expected.abs().max(1.0) {
            return Err(format!("a small matrix product came out wrong ({found} instead of {expected})"));
        }
    }
    Ok(())
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()))
        .unwrap_or_else(|| "it panicked".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(feature = "flex")]
    fn the_cpu_is_there_and_computes() {
        let cpu = choose(DevicePreference::CPU).expect("the CPU is part of this build");
        assert_eq!((cpu.kind_name().as_str(), cpu.is_gpu()), ("cpu", false));
        computes(&cpu.device, Precision::F32).expect("the CPU computes");
    }

    #[test]
    #[cfg(feature = "flex")]
    fn the_cpu_takes_half_precision_only_when_asked_and_its_results_are_kept_apart() {
        let chosen = choose(DevicePreference::CPU).expect("the CPU is part of this build");
        assert_eq!((chosen.precision, chosen.kind_name().as_str(), chosen.note), (Precision::F32, "cpu", None));
        let asked = DevicePreference { precision: PrecisionChoice::F16, ..DevicePreference::CPU };
        let chosen = choose(asked).expect("the CPU computes in f16");
        assert_eq!((chosen.precision, chosen.kind_name().as_str()), (Precision::F16, "cpu-f16"));
        assert!(chosen.note.is_some_and(|note| note.contains("slower")));
    }

    #[test]
    fn a_device_without_half_precision_says_what_to_do() {
        let error = DeviceError::NoHalf { device: "Old GPU".to_owned(), reason: "none".to_owned() }.to_string();
        assert_eq!(error, "half precision is not to be had on Old GPU: none; use --precision f32 or auto");
    }

    #[test]
    #[cfg(feature = "flex")]
    fn automatic_choice_never_takes_a_software_adapter() {
        let chosen = choose(DevicePreference::AUTO).expect("the CPU is always there");
        assert_ne!(chosen.kind, DeviceKind::SoftwareGpu);
        assert!(chosen.is_gpu() || chosen.note.is_some(), "taking the CPU instead of a GPU needs a reason");
    }
}
