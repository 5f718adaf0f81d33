//! The stack machine that reads a TorchScript pickle: no calls, no classes, only trees.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::io::BufRead;
use std::rc::Rc;

use super::Place;
use crate::nets::checkpoint::pickle::{Op, next_op};

/// Most members and most levels of a tree; CLIP has thousands and less than ten.
const MOST_STEPS: usize = 1_000_000;
const MOST_LEVELS: usize = 64;

/// Why a pickle is not read to its end.
#[derive(Debug, PartialEq)]
pub enum Stop {
    /// It imports something that is neither data nor a class of the archive.
    Code(String),
    Damaged(String),
}

impl From<String> for Stop {
    fn from(reason: String) -> Self {
        Self::Damaged(reason)
    }
}

fn damaged(reason: &str) -> Stop {
    Stop::Damaged(format!("its pickle {reason}"))
}

/// A value on the stack. Trees are shared, as Python's are: a module that stands in two places is filled in both.
#[derive(Clone)]
enum Value {
    /// What no tensor depends on: numbers with a fraction, flags, nothing.
    Other,
    Int(i64),
    Text(String),
    List(Rc<RefCell<Vec<Value>>>),
    /// A dictionary, or a module with its attributes.
    Tree(Rc<RefCell<BTreeMap<String, Value>>>),
    Global(Import),
    Storage {
        kind: String,
        key: String,
    },
    Tensor(Place),
}

/// What may be imported.
#[derive(Clone)]
enum Import {
    /// `torch._utils._rebuild_tensor_v2`
    RebuildTensor,
    /// `collections.OrderedDict`
    Dictionary,
    /// `torch.HalfStorage` and its like.
    Storage(String),
    /// A class of the archive (`__torch__.…`), taken as a tree of attributes.
    Class,
    /// `torch.jit._pickle.build_intlist` and its like, which mark a list's type; `restore_type_tag` a value's.
    Typed,
}

impl Import {
    fn new(module: &str, name: &str) -> Option<Self> {
        match (module, name) {
            ("torch._utils", "_rebuild_tensor_v2") => Some(Self::RebuildTensor),
            ("collections", "OrderedDict") => Some(Self::Dictionary),
            ("torch", kind) if kind.ends_with("Storage") => Some(Self::Storage(kind.to_owned())),
            ("torch.jit._pickle", name) if name.starts_with("build_") || name == "restore_type_tag" => Some(Self::Typed),
            (module, _) if module == "__torch__" || module.starts_with("__torch__.") => Some(Self::Class),
            _ => None,
        }
    }
}

#[derive(Default)]
struct Machine {
    stack: Vec<Value>,
    marks: Vec<usize>,
    memo: HashMap<u32, Value>,
}

/// The tensors of a pickle by their dotted names.
///
/// # Errors
/// When the pickle is damaged, imports code, or does something that no tree of tensors needs.
pub fn tensors(from: &mut impl BufRead) -> Result<BTreeMap<String, Place>, Stop> {
    let mut machine = Machine::default();
    loop {
        match next_op(from)? {
            Op::Stop => break,
            op => machine.step(op)?,
        }
    }
    let root = machine.pop()?;
    let mut found = Found::default();
    found.walk(&root)?;
    Ok(found.tensors)
}

/// The tensors met on a walk through a tree.
#[derive(Default)]
struct Found {
    tensors: BTreeMap<String, Place>,
    path: Vec<String>,
    steps: usize,
}

impl Found {
    fn walk(&mut self, value: &Value) -> Result<(), Stop> {
        self.steps += 1;
        // Also ends a tree that holds itself, and one whose shared branches unfold without end.
        if self.path.len() > MOST_LEVELS || self.steps > MOST_STEPS {
            return Err(damaged("has more members or levels than any network"));
        }
        match value {
            Value::Tensor(place) => {
                self.tensors.insert(self.path.join("."), place.clone());
            }
            Value::Tree(tree) => {
                for (name, value) in &*tree.borrow() {
                    self.step_into(name.clone(), value)?;
                }
            }
            Value::List(list) => {
                for (number, value) in list.borrow().iter().enumerate() {
                    self.step_into(number.to_string(), value)?;
                }
            }
            Value::Other | Value::Int(_) | Value::Text(_) | Value::Global(_) | Value::Storage { .. } => {}
        }
        Ok(())
    }

    fn step_into(&mut self, name: String, value: &Value) -> Result<(), Stop> {
        self.path.push(name);
        self.walk(value)?;
        self.path.pop();
        Ok(())
    }
}

impl Machine {
    fn step(&mut self, op: Op) -> Result<(), Stop> {
        match op {
            Op::Protocol(_) => {}
            Op::Mark => self.marks.push(self.stack.len()),
            Op::Pop => drop(self.pop()?),
            Op::PopMark => drop(self.pop_to_mark()?),
            Op::Int(value) => self.stack.push(Value::Int(value)),
            Op::Text(text) => self.stack.push(Value::Text(text)),
            Op::Nothing | Op::Bool(_) | Op::HugeInt | Op::Float(_) | Op::Bytes => self.stack.push(Value::Other),
            Op::Global(module, name) => match Import::new(&module, &name) {
                Some(import) => self.stack.push(Value::Global(import)),
                None => return Err(Stop::Code(format!("{module}.{name}"))),
            },
            Op::EmptyTuple | Op::EmptyList => self.push_list(Vec::new()),
            Op::EmptyDict => self.stack.push(Value::Tree(Rc::default())),
            Op::Tuple => {
                let values = self.pop_to_mark()?;
                self.push_list(values);
            }
            Op::TupleOf(count) => {
                let from = self.stack.len().checked_sub(count).ok_or_else(|| damaged("takes from an empty stack"))?;
                let values = self.stack.split_off(from);
                self.push_list(values);
            }
            Op::Append => {
                let value = self.pop()?;
                self.top_list()?.borrow_mut().push(value);
            }
            Op::Appends => {
                let values = self.pop_to_mark()?;
                self.top_list()?.borrow_mut().extend(values);
            }
            Op::SetItem => {
                let value = self.pop()?;
                let key = self.pop()?;
                set(&self.top_tree()?, vec![key, value])?;
            }
            Op::SetItems => {
                let pairs = self.pop_to_mark()?;
                set(&self.top_tree()?, pairs)?;
            }
            Op::Reduce => self.reduce()?,
            Op::NewObject => self.new_object()?,
            Op::Build => self.build()?,
            Op::PersistentId => self.storage()?,
            Op::Put(slot) => {
                let top = self.stack.last().cloned().ok_or_else(|| damaged("remembers from an empty stack"))?;
                self.memo.insert(slot, top);
            }
            Op::Get(slot) => {
                let value = self.memo.get(&slot).cloned().ok_or_else(|| damaged("recalls what it never remembered"))?;
                self.stack.push(value);
            }
            Op::Duplicate => return Err(damaged("has an operation that TorchScript does not write")),
            Op::Stop => {}
        }
        Ok(())
    }

    fn new_object(&mut self) -> Result<(), Stop> {
        self.pop()?;
        match self.pop()? {
            Value::Global(Import::Class) => self.stack.push(Value::Tree(Rc::default())),
            _ => return Err(damaged("makes an object of something that is no class of the archive")),
        }
        Ok(())
    }

    fn pop(&mut self) -> Result<Value, Stop> {
        self.stack.pop().ok_or_else(|| damaged("takes from an empty stack"))
    }

    fn pop_to_mark(&mut self) -> Result<Vec<Value>, Stop> {
        let mark = self.marks.pop().filter(|&mark| mark <= self.stack.len()).ok_or_else(|| damaged("has no mark where it needs one"))?;
        Ok(self.stack.split_off(mark))
    }

    fn push_list(&mut self, values: Vec<Value>) {
        self.stack.push(Value::List(Rc::new(RefCell::new(values))));
    }

    fn top_list(&self) -> Result<Rc<RefCell<Vec<Value>>>, Stop> {
        match self.stack.last() {
            Some(Value::List(list)) => Ok(Rc::clone(list)),
            _ => Err(damaged("appends to something that is no list")),
        }
    }

    fn top_tree(&self) -> Result<Rc<RefCell<BTreeMap<String, Value>>>, Stop> {
        match self.stack.last() {
            Some(Value::Tree(tree)) => Ok(Rc::clone(tree)),
            _ => Err(damaged("sets a member of something that has none")),
        }
    }

    fn reduce(&mut self) -> Result<(), Stop> {
        let arguments = self.pop_values()?;
        let made = match self.pop()? {
            Value::Global(Import::RebuildTensor) => Value::Tensor(rebuild(&arguments)?),
            Value::Global(Import::Dictionary) if arguments.is_empty() => Value::Tree(Rc::default()),
            Value::Global(Import::Typed) => arguments.into_iter().next().unwrap_or(Value::Other),
            _ => return Err(damaged("calls something that makes no tensor")),
        };
        self.stack.push(made);
        Ok(())
    }

    fn build(&mut self) -> Result<(), Stop> {
        let state = self.pop()?;
        let (Value::Tree(state), object) = (state, self.top_tree()?) else {
            return Err(damaged("gives a module a state that has no names"));
        };
        // Taken first: the two could be one and the same.
        let state = state.borrow().clone();
        object.borrow_mut().extend(state);
        Ok(())
    }

    /// `('storage', class, key, device, count)` → the storage.
    fn storage(&mut self) -> Result<(), Stop> {
        let fields = self.pop_values()?;
        match fields.as_slice() {
            [Value::Text(tag), Value::Global(Import::Storage(kind)), Value::Text(key), _, _] if tag == "storage" => {
                self.stack.push(Value::Storage { kind: kind.clone(), key: key.clone() });
                Ok(())
            }
            _ => Err(damaged("refers to something that is no storage")),
        }
    }

    fn pop_values(&mut self) -> Result<Vec<Value>, Stop> {
        match self.pop()? {
            Value::List(list) => Ok(list.borrow().clone()),
            _ => Err(damaged("has no arguments where it needs some")),
        }
    }
}

fn set(tree: &Rc<RefCell<BTreeMap<String, Value>>>, pairs: Vec<Value>) -> Result<(), Stop> {
    let mut pairs = pairs.into_iter();
    while let Some(key) = pairs.next() {
        let value = pairs.next().ok_or_else(|| damaged("has a name without a value"))?;
        let name = match key {
            Value::Text(name) => name,
            Value::Int(number) => number.to_string(),
            _ => return Err(damaged("has a member whose name is no text")),
        };
        tree.borrow_mut().insert(name, value);
    }
    Ok(())
}

/// `(storage, offset, shape, strides, …)` → the tensor.
fn rebuild(arguments: &[Value]) -> Result<Place, Stop> {
    let [Value::Storage { kind, key }, Value::Int(offset), Value::List(shape), Value::List(strides), ..] = arguments else {
        return Err(damaged("describes a tensor in another way than PyTorch does"));
    };
    let size = |value: &Value| match value {
        Value::Int(size) => usize::try_from(*size).map_err(|_| damaged("has a negative size")),
        _ => Err(damaged("has a size that is no number")),
    };
    let sizes = |list: &Rc<RefCell<Vec<Value>>>| list.borrow().iter().map(size).collect::<Result<Vec<_>, _>>();
    let (shape, strides) = (sizes(shape)?, sizes(strides)?);
    if shape.len() != strides.len() {
        return Err(damaged("has a tensor with more sides than steps"));
    }
    Ok(Place { storage: key.clone(), kind: kind.clone(), offset: size(&Value::Int(*offset))?, shape, strides })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(pickle: &[u8]) -> Result<Vec<String>, Stop> {
        tensors(&mut &pickle[..]).map(|tensors| tensors.into_keys().collect())
    }

    #[test]
    fn code_and_nonsense_are_refused() {
        assert_eq!(names(b"\x80\x02cposix\nsystem\n."), Err(Stop::Code("posix.system".to_owned())));
        // A class of the archive is a name; calling it as a function is not what TorchScript writes.
        assert!(matches!(names(b"\x80\x02c__torch__.net\nNet\n)R."), Err(Stop::Damaged(_))));
        assert!(matches!(names(b"\x80\x02ctorch\nHalfStorage\n)\x81."), Err(Stop::Damaged(_))));
        for cut in [&b"\x80\x02."[..], b"\x80\x02e.", b"\x80\x02h\x00.", b"\x80\x02}u.", b"\x80\x02K\x01b.", b"\x80\x02"] {
            assert!(matches!(names(cut), Err(Stop::Damaged(_))), "{cut:?}");
        }
    }

    #[test]
    fn a_tree_that_holds_itself_ends() {
        // `d = {}; d["a"] = d` as a pickle.
        assert!(matches!(names(b"\x80\x02}q\x00X\x01\x00\x00\x00ah\x00s."), Err(Stop::Damaged(_))));
    }

    #[test]
    fn modules_are_trees_of_names() {
        // Net(weight = tensor of storage "0", half precision, [2, 3]; layer = Net()), by the form in pickler.cpp.
        let pickle = b"\x80\x02c__torch__\nNet\n)\x81}(X\x06\x00\x00\x00weightctorch._utils\n_rebuild_tensor_v2\n(\
            (X\x07\x00\x00\x00storagectorch\nHalfStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x06tQK\x00(K\x02K\x03t(K\x03K\x01t\x89\
            ccollections\nOrderedDict\n)RtRX\x05\x00\x00\x00layerc__torch__\nNet\n)\x81}(X\x08\x00\x00\x00training\x89ubub.";
        let found = tensors(&mut &pickle[..]).expect("a tree");
        let place = Place { storage: "0".to_owned(), kind: "HalfStorage".to_owned(), offset: 0, shape: vec![2, 3], strides: vec![3, 1] };
        assert_eq!(found, BTreeMap::from([("weight".to_owned(), place)]));
    }
}
