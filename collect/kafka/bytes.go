package kafka

import (
	"encoding/binary"
	"errors"
)

// errShort is the error of an answer that ends too early, or says of itself
// that it is longer than it is.
var errShort = errors.New("the answer is cut short")

// wire reads a message from its bytes, by the rules of the Kafka protocol and
// with the client library's opinion of what is malformed. After the first
// mistake it reads zeros, and bad is true.
type wire struct {
	src      []byte
	flexible bool // lengths are compact, and tags follow each struct
	bad      bool
}

func (w *wire) fail() {
	w.src, w.bad = nil, true
}

// span takes n bytes. They are those of the answer: to keep them is to keep it
// as a whole.
func (w *wire) span(n int) []byte {
	if n < 0 || n > len(w.src) {
		w.fail()
		return nil
	}
	b := w.src[:n]
	w.src = w.src[n:]
	return b
}

func (w *wire) int16() int16 {
	if len(w.src) < 2 {
		w.fail()
		return 0
	}
	v := int16(binary.BigEndian.Uint16(w.src))
	w.src = w.src[2:]
	return v
}

func (w *wire) int32() int32 {
	if len(w.src) < 4 {
		w.fail()
		return 0
	}
	v := int32(binary.BigEndian.Uint32(w.src))
	w.src = w.src[4:]
	return v
}

func (w *wire) int64() int64 {
	if len(w.src) < 8 {
		w.fail()
		return 0
	}
	v := int64(binary.BigEndian.Uint64(w.src))
	w.src = w.src[8:]
	return v
}

func (w *wire) uvarint() uint32 {
	if len(w.src) > 0 && w.src[0] < 0x80 {
		v := uint32(w.src[0])
		w.src = w.src[1:]
		return v
	}
	return w.longUvarint()
}

// longUvarint reads up to five bytes; more than 32 bits are a mistake.
func (w *wire) longUvarint() uint32 {
	v := uint32(0)
	for i := 0; i < 5 && i < len(w.src); i++ {
		b := w.src[i]
		if i == 4 && b > 0x0f {
			break
		}
		v |= uint32(b&0x7f) << (7 * i)
		if b < 0x80 {
			w.src = w.src[i+1:]
			return v
		}
	}
	w.fail()
	return 0
}

// text takes a string's bytes; none there, nil, is a mistake.
func (w *wire) text() []byte {
	return w.span(w.length())
}

// nullableText takes a string's bytes, which may be none.
func (w *wire) nullableText() []byte {
	if n := w.length(); n >= 0 {
		return w.span(n)
	}
	return nil
}

func (w *wire) length() int {
	if w.flexible {
		return int(w.uvarint()) - 1
	}
	return int(w.int16())
}

// count takes an array's length, 0 of one that is none. least is how many bytes
// an element needs: what cannot be there is not made room for.
func (w *wire) count(least int) int {
	var n int32
	if w.flexible {
		n = int32(w.uvarint()) - 1
	} else {
		n = w.int32()
	}
	if int64(n)*int64(least) > int64(len(w.src)) {
		w.fail()
	}
	if w.bad || n < 0 {
		return 0
	}
	return int(n)
}

// tags passes over what a later version may have added to a struct.
func (w *wire) tags() {
	if !w.flexible {
		return
	}
	if len(w.src) > 0 && w.src[0] == 0 {
		w.src = w.src[1:]
		return
	}
	for n := w.uvarint(); n > 0 && !w.bad; n-- {
		w.uvarint() // the tag
		w.span(int(w.uvarint()))
	}
}

// end is the error of what was read.
func (w *wire) end() error {
	if w.bad {
		return errShort
	}
	return nil
}
