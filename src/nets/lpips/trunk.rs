//! The convolutions of the three classifiers that LPIPS looks through, as torchvision has them.

use burn::tensor::Tensor;
use burn::tensor::activation::relu;
use burn::tensor::module::max_pool2d;
use burn::tensor::ops::MaxPoolOptions;

use crate::nets::checkpoint::{CheckpointError, Scope};
use crate::nets::layers::{Conv2d, ConvSizes};

/// Which classifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trunk {
    Alex,
    Vgg,
    Squeeze,
}

/// One line of a trunk's table. `at` is the layer's number below `features`.
enum Step {
    /// A convolution and its ReLU.
    Conv { at: usize, channels: [usize; 2], kernel: usize, stride: usize, padding: usize },
    /// The largest of each square.
    Pool { kernel: usize, stride: usize, ceil: bool },
    /// SqueezeNet's module: 1×1 to `squeeze` channels, then 1×1 and 3×3 to `expand` channels each, side by side.
    Fire { at: usize, channels_in: usize, squeeze: usize, expand: usize },
    /// What came out so far is one of the features that are compared.
    Tap,
}

use Step::{Conv, Fire, Pool, Tap};

/// torchvision `alexnet().features`; taps of lpips `pretrained_networks.alexnet`.
const ALEX: &[Step] = &[
    Conv { at: 0, channels: [3, 64], kernel: 11, stride: 4, padding: 2 },
    Tap,
    Pool { kernel: 3, stride: 2, ceil: false },
    Conv { at: 3, channels: [64, 192], kernel: 5, stride: 1, padding: 2 },
    Tap,
    Pool { kernel: 3, stride: 2, ceil: false },
    Conv { at: 6, channels: [192, 384], kernel: 3, stride: 1, padding: 1 },
    Tap,
    Conv { at: 8, channels: [384, 256], kernel: 3, stride: 1, padding: 1 },
    Tap,
    Conv { at: 10, channels: [256, 256], kernel: 3, stride: 1, padding: 1 },
    Tap,
];

const fn vgg(at: usize, channels: [usize; 2]) -> Step {
    Conv { at, channels, kernel: 3, stride: 1, padding: 1 }
}

const VGG_POOL: Step = Pool { kernel: 2, stride: 2, ceil: false };

/// torchvision `vgg16().features`; taps of lpips `pretrained_networks.vgg16`.
const VGG: &[Step] = &[
    vgg(0, [3, 64]),
    vgg(2, [64, 64]),
    Tap,
    VGG_POOL,
    vgg(5, [64, 128]),
    vgg(7, [128, 128]),
    Tap,
    VGG_POOL,
    vgg(10, [128, 256]),
    vgg(12, [256, 256]),
    vgg(14, [256, 256]),
    Tap,
    VGG_POOL,
    vgg(17, [256, 512]),
    vgg(19, [512, 512]),
    vgg(21, [512, 512]),
    Tap,
    VGG_POOL,
    vgg(24, [512, 512]),
    vgg(26, [512, 512]),
    vgg(28, [512, 512]),
    Tap,
];

const fn fire(at: usize, channels_in: usize, squeeze: usize, expand: usize) -> Step {
    Fire { at, channels_in, squeeze, expand }
}

const SQUEEZE_POOL: Step = Pool { kernel: 3, stride: 2, ceil: true };

/// torchvision `squeezenet1_1().features`; taps of lpips `pretrained_networks.squeezenet`.
const SQUEEZE: &[Step] = &[
    Conv { at: 0, channels: [3, 64], kernel: 3, stride: 2, padding: 0 },
    Tap,
    SQUEEZE_POOL,
    fire(3, 64, 16, 64),
    fire(4, 128, 16, 64),
    Tap,
    SQUEEZE_POOL,
    fire(6, 128, 32, 128),
    fire(7, 256, 32, 128),
    Tap,
    SQUEEZE_POOL,
    fire(9, 256, 48, 192),
    Tap,
    fire(10, 384, 48, 192),
    Tap,
    fire(11, 384, 64, 256),
    Tap,
    fire(12, 512, 64, 256),
    Tap,
];

impl Trunk {
    const fn steps(self) -> &'static [Step] {
        match self {
            Self::Alex => ALEX,
            Self::Vgg => VGG,
            Self::Squeeze => SQUEEZE,
        }
    }

    /// The channels of each tap.
    pub fn taps(self) -> Vec<usize> {
        let (mut channels, mut taps) = (3, Vec::new());
        for step in self.steps() {
            match step {
                Conv { channels: [_, out], .. } => channels = *out,
                Fire { expand, .. } => channels = 2 * expand,
                Pool { .. } => {}
                Tap => taps.push(channels),
            }
        }
        taps
    }

    /// Whether a picture of `rows` × `columns` pixels has something left in every layer.
    pub fn fits(self, rows: usize, columns: usize) -> bool {
        let along = |side: usize| {
            self.steps().iter().try_fold(side, |side, step| match *step {
                Conv { kernel, stride, padding, .. } => Some((side + 2 * padding).checked_sub(kernel)? / stride + 1),
                Pool { kernel, stride, ceil: false } => Some(side.checked_sub(kernel)? / stride + 1),
                Pool { kernel, stride, ceil: true } => Some(side.checked_sub(kernel)?.div_ceil(stride) + 1),
                Fire { .. } | Tap => Some(side),
            })
        };
        along(rows).is_some() && along(columns).is_some()
    }

    /// Reads the layers below `features`.
    ///
    /// # Errors
    /// When a tensor is missing, misshapen or unreadable.
    pub(super) fn load(self, features: &Scope<'_>) -> Result<Vec<Layer>, CheckpointError> {
        self.steps().iter().map(|step| Layer::load(step, features)).collect()
    }
}

/// SqueezeNet's module, loaded.
pub(super) struct FireModule {
    squeeze: Conv2d,
    expand1: Conv2d,
    expand3: Conv2d,
}

/// A loaded [`Step`].
pub(super) enum Layer {
    Conv(Box<Conv2d>),
    Pool { kernel: usize, stride: usize, ceil: bool },
    Fire(Box<FireModule>),
    Tap,
}

impl Layer {
    fn load(step: &Step, features: &Scope<'_>) -> Result<Self, CheckpointError> {
        let conv = |scope: &Scope<'_>, [channels_in, channels_out]: [usize; 2], kernel, stride, padding| {
            Conv2d::load(scope, ConvSizes { channels_in, channels_out, kernel, stride, padding, bias: true })
        };
        Ok(match *step {
            Conv { at, channels, kernel, stride, padding } => {
                Self::Conv(Box::new(conv(&features.at(at), channels, kernel, stride, padding)?))
            }
            Pool { kernel, stride, ceil } => Self::Pool { kernel, stride, ceil },
            Fire { at, channels_in, squeeze, expand } => {
                let scope = features.at(at);
                Self::Fire(Box::new(FireModule {
                    squeeze: conv(&scope.at("squeeze"), [channels_in, squeeze], 1, 1, 0)?,
                    expand1: conv(&scope.at("expand1x1"), [squeeze, expand], 1, 1, 0)?,
                    expand3: conv(&scope.at("expand3x3"), [squeeze, expand], 3, 1, 1)?,
                }))
            }
            Tap => Self::Tap,
        })
    }
}

/// What the taps see.
///
/// # Shapes
/// `[batch, 3, rows, columns]` → for each tap `[batch, channels, rows', columns']`
pub(super) fn forward(layers: &[Layer], pixels: Tensor<4>) -> Vec<Tensor<4>> {
    let (mut x, mut taps) = (pixels, Vec::new());
    for layer in layers {
        x = match layer {
            Layer::Conv(conv) => relu(conv.forward(x)),
            Layer::Pool { kernel, stride, ceil } => {
                max_pool2d(x, MaxPoolOptions::new([*kernel; 2]).with_stride([*stride; 2]).with_ceil_mode(*ceil))
            }
            Layer::Fire(fire) => {
                let squeezed = relu(fire.squeeze.forward(x));
                Tensor::cat(vec![relu(fire.expand1.forward(squeezed.clone())), relu(fire.expand3.forward(squeezed))], 1)
            }
            Layer::Tap => {
                taps.push(x.clone());
                x
            }
        };
    }
    taps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taps_have_the_channels_of_the_package() {
        // lpips.py, `self.chns`.
        assert_eq!(Trunk::Alex.taps(), [64, 192, 384, 256, 256]);
        assert_eq!(Trunk::Vgg.taps(), [64, 128, 256, 512, 512]);
        assert_eq!(Trunk::Squeeze.taps(), [64, 128, 256, 384, 384, 512, 512]);
    }

    #[test]
    fn the_smallest_pictures_are_known() {
        // Found by trying: lpips 0.1.4 takes AlexNet pictures from 31 pixels on, VGG from 16, SqueezeNet from 17. Below 25 pixels its last
        // pooling window is larger than what is left, which PyTorch allows in its ceiling mode and we refuse.
        for (trunk, smallest) in [(Trunk::Alex, 31), (Trunk::Vgg, 16), (Trunk::Squeeze, 25)] {
            assert!(trunk.fits(smallest, 500) && !trunk.fits(smallest - 1, 500), "{trunk:?}");
            assert!(trunk.fits(500, smallest) && !trunk.fits(500, smallest - 1), "{trunk:?}");
        }
    }
}
