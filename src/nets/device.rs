//! Where the networks run: a GPU through wgpu, or the CPU.
//!
//! Adapters are looked at with wgpu before burn touches one, because burn reports a missing GPU by panicking. A software adapter (a GPU
//! imitated on the CPU) is far slower than burn's own CPU code, so it is never chosen automatically. A small product decides at the end: a
//! driver that computes wrongly or not at all is no device.

use std::fmt;
use std::str::FromStr;

use burn::tensor::{Device, Tensor, TensorData};

/// What the user asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DeviceChoice {
    /// A GPU if there is one, else the CPU.
    #[default]
    Auto,
    Cpu,
    /// A GPU or an error; takes a software adapter if there is nothing else.
    Gpu,
}

impl FromStr for DeviceChoice {
    type Err = DeviceError;

    fn from_str(text: &str) -> Result<Self, DeviceError> {
        match text {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "gpu" => Ok(Self::Gpu),
            _ => Err(DeviceError::Unknown(text.to_owned())),
        }
    }
}

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
    #[error("'{0}' is no device; use auto, cpu or gpu")]
    Unknown(String),
    #[error("no GPU can be used: {0}; use --device cpu or auto")]
    NoGpu(String),
    #[error("this program was built without the CPU's network code (feature 'flex'); use --device gpu")]
    NoCpu,
}

/// A device on which a small computation went right.
#[derive(Clone, Debug)]
pub struct ChosenDevice {
    /// burn's handle.
    pub device: Device,
    /// Name for people: the adapter's, or `CPU`.
    pub name: String,
    pub kind: DeviceKind,
    /// Why it was this one, where that is worth saying.
    pub note: Option<String>,
}

impl ChosenDevice {
    /// `cpu`, `gpu` or `software-gpu`. Results of different kinds differ in the last bits, so caches keep them apart by this.
    pub fn kind_name(&self) -> String {
        self.kind.to_string()
    }

    /// Whether it is reached as a GPU, a software adapter included.
    pub fn is_gpu(&self) -> bool {
        self.kind != DeviceKind::Cpu
    }
}

/// Finds the device for `choice`.
///
/// # Errors
/// For [`DeviceChoice::Gpu`] when no adapter is there or works; for the CPU when its code is not part of this build.
pub fn choose(choice: DeviceChoice) -> Result<ChosenDevice, DeviceError> {
    match choice {
        DeviceChoice::Cpu => cpu(None),
        DeviceChoice::Gpu => gpu(true).map_err(DeviceError::NoGpu),
        DeviceChoice::Auto => match gpu(false) {
            Ok(found) => Ok(found),
            Err(reason) => cpu(Some(reason)),
        },
    }
}

#[cfg(feature = "flex")]
fn cpu(note: Option<String>) -> Result<ChosenDevice, DeviceError> {
    Ok(ChosenDevice { device: Device::flex(), name: "CPU".to_owned(), kind: DeviceKind::Cpu, note })
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
    computes(&device).map_err(|reason| format!("{} does not compute: {reason}", adapter.name))?;
    Ok(ChosenDevice { device, name: format!("{} ({:?})", adapter.name, adapter.backend), kind, note })
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

/// Multiplies two small matrices on `device` and checks the product against plain arithmetic.
///
/// # Errors
/// When the device panics, fails or computes something else; says which.
pub fn computes(device: &Device) -> Result<(), String> {
    const SIDE: usize = 16;
    let matrix = |factor: usize| -> Vec<f32> { (0..SIDE * SIDE).map(|i| ((i * factor) % 13) as f32 - 6.0).collect() };
    let (a, b) = (matrix(5), matrix(7));
    let product = std::panic::catch_unwind(|| {
        let tensor = |values: &[f32]| Tensor::<2>::from_data(TensorData::new(values.to_vec(), [SIDE, SIDE]), device);
        tensor(&a).matmul(tensor(&b)).try_into_vec_as::<f32>().map_err(|e| e.to_string())
    })
    .map_err(|panic| panic_text(&*panic))??;
    for (i, found) in product.iter().enumerate() {
        let (row, column) = (i / SIDE, i % SIDE);
        // Whole numbers this small are exact in f32.
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
    fn choices_are_read() {
        assert_eq!("auto".parse::<DeviceChoice>().expect("a choice"), DeviceChoice::Auto);
        assert_eq!("gpu".parse::<DeviceChoice>().expect("a choice"), DeviceChoice::Gpu);
        let error = "cuda".parse::<DeviceChoice>().expect_err("not a choice");
        assert!(error.to_string().contains("'cuda'") && error.to_string().contains("auto, cpu or gpu"), "{error}");
    }

    #[test]
    #[cfg(feature = "flex")]
    fn the_cpu_is_there_and_computes() {
        let cpu = choose(DeviceChoice::Cpu).expect("the CPU is part of this build");
        assert_eq!((cpu.kind_name().as_str(), cpu.is_gpu()), ("cpu", false));
        computes(&cpu.device).expect("the CPU computes");
    }

    #[test]
    #[cfg(feature = "flex")]
    fn automatic_choice_never_takes_a_software_adapter() {
        let chosen = choose(DeviceChoice::Auto).expect("the CPU is always there");
        assert_ne!(chosen.kind, DeviceKind::SoftwareGpu);
        assert!(chosen.is_gpu() || chosen.note.is_some(), "taking the CPU instead of a GPU needs a reason");
    }
}
