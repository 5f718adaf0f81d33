//! The operations of a pickle, read and never run.
//!
//! A pickle is a program for a stack machine. PyTorch writes it with protocol 2, of which it needs the part below; anything else is refused.
//! [`Op`] is one operation with its argument. [`refuse_code`] walks over all of them and looks at what they import: a file of tensors imports
//! what rebuilds tensors and dictionaries, a file made to do harm imports something that does things (`os.system`).
//! Operations and their arguments: CPython, `Lib/pickletools.py`.

use std::io::{BufRead, Read};

/// Longest string and whole number read; names of tensors and keys of storages are far shorter.
const LONGEST: usize = 1 << 16;

/// One operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    Protocol(u8),
    Stop,
    Mark,
    Pop,
    PopMark,
    Duplicate,
    Nothing,
    Bool(bool),
    Int(i64),
    /// A whole number of more than 64 bits.
    HugeInt,
    Float(f64),
    Text(String),
    Bytes,
    /// What the pickle imports: module and name.
    Global(String, String),
    EmptyTuple,
    EmptyList,
    EmptyDict,
    /// A tuple of what stands above the mark.
    Tuple,
    /// A tuple of the last one, two or three.
    TupleOf(usize),
    Append,
    Appends,
    SetItem,
    SetItems,
    /// Calls what was imported.
    Reduce,
    /// Makes an object of an imported class.
    NewObject,
    /// Sets an object's attributes.
    Build,
    PersistentId,
    Put(u32),
    Get(u32),
}

/// Reads the next operation.
///
/// # Errors
/// For an operation that PyTorch does not write, and when the pickle ends or is damaged.
pub fn next_op(from: &mut impl BufRead) -> Result<Op, String> {
    let [code] = bytes(from)?;
    Ok(match code {
        0x80 => Op::Protocol(u8::from_le_bytes(bytes(from)?)),
        b'.' => Op::Stop,
        b'(' => Op::Mark,
        b'0' => Op::Pop,
        b'1' => Op::PopMark,
        b'2' => Op::Duplicate,
        b'N' => Op::Nothing,
        0x88 => Op::Bool(true),
        0x89 => Op::Bool(false),
        b'J' => Op::Int(i32::from_le_bytes(bytes(from)?).into()),
        b'K' => Op::Int(u8::from_le_bytes(bytes(from)?).into()),
        b'M' => Op::Int(u16::from_le_bytes(bytes(from)?).into()),
        0x8a => short(from).and_then(|length| long(from, length))?,
        0x8b => length(from).and_then(|length| long(from, length))?,
        b'G' => Op::Float(f64::from_be_bytes(bytes(from)?)),
        // The two last are strings of Python 2, whose names are plain letters too.
        b'X' | b'T' => length(from).and_then(|length| text(from, length))?,
        b'U' => short(from).and_then(|length| text(from, length))?,
        b'c' => Op::Global(line(from)?, line(from)?),
        b')' => Op::EmptyTuple,
        b']' => Op::EmptyList,
        b'}' => Op::EmptyDict,
        b't' => Op::Tuple,
        0x85..=0x87 => Op::TupleOf(usize::from(code - 0x84)),
        b'a' => Op::Append,
        b'e' => Op::Appends,
        b's' => Op::SetItem,
        b'u' => Op::SetItems,
        b'R' => Op::Reduce,
        0x81 => Op::NewObject,
        b'b' => Op::Build,
        b'Q' => Op::PersistentId,
        b'q' => Op::Put(u8::from_le_bytes(bytes(from)?).into()),
        b'r' => Op::Put(u32::from_le_bytes(bytes(from)?)),
        b'h' => Op::Get(u8::from_le_bytes(bytes(from)?).into()),
        b'j' => Op::Get(u32::from_le_bytes(bytes(from)?)),
        b'B' => length(from).and_then(|length| some(from, length)).map(|_| Op::Bytes)?,
        b'C' => short(from).and_then(|length| some(from, length)).map(|_| Op::Bytes)?,
        other => return Err(format!("its pickle has the operation 0x{other:02x}, which PyTorch does not write")),
    })
}

/// Walks over one pickle up to its end and checks that it imports nothing but what `allowed` says.
///
/// # Errors
/// `Ok(Err(import))` names the first import that is not allowed; `Err` says why the pickle cannot be read.
pub fn refuse_code(from: &mut impl BufRead, allowed: impl Fn(&str, &str) -> bool) -> Result<Result<(), String>, String> {
    loop {
        match next_op(from)? {
            Op::Stop => return Ok(Ok(())),
            Op::Global(module, name) if !allowed(&module, &name) => return Ok(Err(format!("{module}.{name}"))),
            _ => {}
        }
    }
}

fn cut(_: std::io::Error) -> String {
    "its pickle ends early".to_owned()
}

fn bytes<const N: usize>(from: &mut impl Read) -> Result<[u8; N], String> {
    let mut buffer = [0; N];
    from.read_exact(&mut buffer).map_err(cut)?;
    Ok(buffer)
}

/// A length in four bytes.
fn length(from: &mut impl Read) -> Result<usize, String> {
    Ok(u32::from_le_bytes(bytes(from)?) as usize)
}

/// A length in one byte.
fn short(from: &mut impl Read) -> Result<usize, String> {
    Ok(usize::from(u8::from_le_bytes(bytes(from)?)))
}

fn some(from: &mut impl Read, length: usize) -> Result<Vec<u8>, String> {
    if length > LONGEST {
        return Err(format!("its pickle has a string of {length} bytes, which no name of a tensor needs"));
    }
    let mut buffer = vec![0; length];
    from.read_exact(&mut buffer).map_err(cut)?;
    Ok(buffer)
}

fn text(from: &mut impl Read, length: usize) -> Result<Op, String> {
    String::from_utf8(some(from, length)?).map(Op::Text).map_err(|_| "its pickle has a string that is not UTF-8".to_owned())
}

/// Up to the end of a line, without it.
fn line(from: &mut impl BufRead) -> Result<String, String> {
    let mut buffer = Vec::new();
    from.take(LONGEST as u64).read_until(b'\n', &mut buffer).map_err(cut)?;
    if buffer.pop() != Some(b'\n') {
        return Err("its pickle ends early".to_owned());
    }
    String::from_utf8(buffer).map_err(|_| "its pickle imports a name that is not UTF-8".to_owned())
}

/// A whole number in two's complement, little-endian, of any length.
fn long(from: &mut impl Read, length: usize) -> Result<Op, String> {
    let buffer = some(from, length)?;
    if length > 8 {
        return Ok(Op::HugeInt);
    }
    let fill = if buffer.last().is_some_and(|&top| top >= 0x80) { 0xff } else { 0 };
    let mut whole = [fill; 8];
    whole[..length].copy_from_slice(&buffer);
    Ok(Op::Int(i64::from_le_bytes(whole)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_read_as_pickletools_names_them() {
        // `pickletools.dis(pickle.dumps([-2, 300, 2**40, 'ä', (1.5, None)], protocol=2))` in Python 3.11, without the memo.
        let pickle = b"\x80\x02](J\xfe\xff\xff\xffM\x2c\x01\x8a\x06\x00\x00\x00\x00\x00\x01X\x02\x00\x00\x00\xc3\xa4G\x3f\xf8\x00\x00\x00\x00\x00\x00N\x86e.";
        let mut from = &pickle[..];
        let mut ops = Vec::new();
        while ops.last() != Some(&Op::Stop) {
            ops.push(next_op(&mut from).expect("an operation"));
        }
        let expected = [
            Op::Protocol(2),
            Op::EmptyList,
            Op::Mark,
            Op::Int(-2),
            Op::Int(300),
            Op::Int(1 << 40),
            Op::Text("ä".to_owned()),
            Op::Float(1.5),
            Op::Nothing,
            Op::TupleOf(2),
            Op::Appends,
            Op::Stop,
        ];
        assert_eq!(ops, expected);
        assert!(next_op(&mut from).unwrap_err().contains("ends early"));
    }

    #[test]
    fn an_import_that_does_things_is_named() {
        // `pickle.dumps` of an object whose `__reduce__` gives `(os.system, ("true",))`, protocol 2.
        let harmful = b"\x80\x02cposix\nsystem\nX\x04\x00\x00\x00true\x85R.";
        let allowed = |module: &str, _: &str| module == "collections";
        assert_eq!(refuse_code(&mut &harmful[..], allowed), Ok(Err("posix.system".to_owned())));
        assert_eq!(refuse_code(&mut &b"\x80\x02ccollections\nOrderedDict\n)R."[..], allowed), Ok(Ok(())));
        // Protocol 4 takes the names of imports from the stack.
        assert!(refuse_code(&mut &b"\x80\x04\x8c\x05posix\x8c\x06system\x93."[..], allowed).is_err());
        // A string longer than the file, and one absurdly long.
        assert!(refuse_code(&mut &b"X\xff\x00\x00\x00abc"[..], allowed).is_err());
        assert!(refuse_code(&mut &b"X\xff\xff\xff\xff"[..], allowed).is_err());
    }
}
