//! What a person asks for: where networks run, and how finely they compute.

use std::str::FromStr;

/// Where networks may run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DeviceChoice {
    /// A GPU where there is one, else the CPU.
    #[default]
    Auto,
    Cpu,
    /// A GPU or an error; takes a software adapter if there is nothing else.
    Gpu,
}

impl DeviceChoice {
    /// All choices, in the order they are offered.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Cpu, Self::Gpu];

    /// The word on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
        }
    }
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|choice| choice.name() == text);
        found.ok_or_else(|| format!("there is no device '{text}'; take one of {}", Self::ALL.map(Self::name).join(", ")))
    }
}

/// How finely linear layers multiply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PrecisionChoice {
    /// Half precision on a GPU whose shaders compute in it, else single precision.
    #[default]
    Auto,
    F32,
    /// Half precision, on the CPU too (where it is slower), or an error.
    F16,
}

impl PrecisionChoice {
    /// All choices, in the order they are offered.
    pub const ALL: [Self; 3] = [Self::Auto, Self::F32, Self::F16];

    /// The word on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::F32 => "f32",
            Self::F16 => "f16",
        }
    }
}

impl FromStr for PrecisionChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|choice| choice.name() == text);
        found.ok_or_else(|| format!("there is no precision '{text}'; take one of {}", Self::ALL.map(Self::name).join(", ")))
    }
}

/// Where networks may run and how finely: what a run asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DevicePreference {
    pub device: DeviceChoice,
    pub precision: PrecisionChoice,
}

impl DevicePreference {
    /// Whatever is there.
    pub const AUTO: Self = Self::on(DeviceChoice::Auto);
    /// The CPU.
    pub const CPU: Self = Self::on(DeviceChoice::Cpu);

    const fn on(device: DeviceChoice) -> Self {
        Self { device, precision: PrecisionChoice::Auto }
    }

    /// In words: the device, and the precision where one was asked for.
    pub fn words(self) -> String {
        match self.precision {
            PrecisionChoice::Auto => self.device.name().to_owned(),
            precision => format!("{} in {}", self.device.name(), precision.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read_by_their_names() {
        for choice in DeviceChoice::ALL {
            assert_eq!(choice.name().parse(), Ok(choice));
        }
        for choice in PrecisionChoice::ALL {
            assert_eq!(choice.name().parse(), Ok(choice));
        }
        let error = "cuda".parse::<DeviceChoice>().expect_err("not a device");
        assert!(error.contains("'cuda'") && error.contains("auto, cpu, gpu"), "{error}");
        let error = "bf16".parse::<PrecisionChoice>().expect_err("not a precision");
        assert!(error.contains("'bf16'") && error.contains("auto, f32, f16"), "{error}");
    }
}
