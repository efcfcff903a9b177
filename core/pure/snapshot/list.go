package snapshot

import (
	"errors"
	"iter"
	"slices"
)

// blockSize is the number of elements of a block. The last block of a list may have fewer.
const (
	blockBits = 10
	blockSize = 1 << blockBits
)

var errLength = errors.New("it has another number of elements")

// List is a list whose elements from a snapshot are decoded when they are needed, a block at a time. The zero List
// is empty. It is not safe for concurrent use, since reading decodes.
type List[T any] struct {
	// blocks has the elements. A block is nil until it is decoded.
	blocks [][]T
	// stored has the content of the blocks of the snapshot, by block. It is out of date once a block is decoded.
	stored [][]byte
	decode func(first int, content []byte) ([]T, error)
	length int
}

// Len returns the number of elements.
func (l *List[T]) Len() int { return l.length }

// At returns the element at an index. The pointer is valid until the list changes.
func (l *List[T]) At(i int) *T {
	block := l.blocks[i>>blockBits]
	if block == nil {
		block = l.load(i >> blockBits)
	}
	return &block[i&(blockSize-1)]
}

func (l *List[T]) load(at int) []T {
	block, err := l.decode(at<<blockBits, l.stored[at])
	if err == nil && len(block) != min(blockSize, l.length-at*blockSize) {
		err = errLength
	}
	must(err)
	l.blocks[at] = block
	return block
}

// Append adds an element at the end.
func (l *List[T]) Append(element T) {
	at := l.length >> blockBits
	switch {
	case at == len(l.blocks) && at == 0: // most lists are short
		l.blocks = append(l.blocks, nil)
	case at == len(l.blocks): // a long list gets whole blocks
		l.blocks = append(l.blocks, make([]T, 0, blockSize))
	case l.blocks[at] == nil:
		l.load(at)
	}
	l.blocks[at] = append(l.blocks[at], element)
	l.length++
}

// Cut removes the elements from an index on. A copy of the list by assignment keeps them, and stays valid while nothing
// is appended to the list.
func (l *List[T]) Cut(length int) {
	if length >= l.length {
		return
	}
	full, part := length>>blockBits, length&(blockSize-1)
	if part > 0 {
		l.At(length) // the part that stays is decoded
		l.blocks = slices.Clone(l.blocks)
		l.blocks[full] = slices.Clip(l.blocks[full][:part])
		full++
	}
	l.blocks, l.length = slices.Clip(l.blocks[:full]), length
	l.stored = l.stored[:min(len(l.stored), full)]
}

// All returns all elements with their indices.
func (l *List[T]) All() iter.Seq2[int, *T] {
	return func(yield func(int, *T) bool) {
		for i := range l.length {
			if !yield(i, l.At(i)) {
				return
			}
		}
	}
}

// Backward returns all elements with their indices, the last one first.
func (l *List[T]) Backward() iter.Seq2[int, *T] {
	return func(yield func(int, *T) bool) {
		for i := l.length - 1; i >= 0; i-- {
			if !yield(i, l.At(i)) {
				return
			}
		}
	}
}

// Decoded returns the elements that were appended or decoded so far.
func (l *List[T]) Decoded() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for _, block := range l.blocks {
			for i := range block {
				if !yield(&block[i]) {
					return
				}
			}
		}
	}
}

// Search returns the index of the first element for which compare is not negative, and whether it is 0 there. The
// elements must be in the order of compare.
func (l *List[T]) Search(compare func(*T) int) (index int, found bool) {
	index, end := 0, l.length
	for index < end {
		middle := int(uint(index+end) >> 1)
		if compare(l.At(middle)) < 0 {
			index = middle + 1
		} else {
			end = middle
		}
	}
	return index, index < l.length && compare(l.At(index)) == 0
}

// Clone returns a copy of the list. Elements are copied by assignment.
func (l *List[T]) Clone() List[T] {
	c := *l
	c.blocks = make([][]T, len(l.blocks))
	for i, block := range l.blocks {
		c.blocks[i] = slices.Clone(block)
	}
	return c
}

// Write writes the list. encode returns the columns of a block. A block that was not decoded is written as it is.
func (l *List[T]) Write(w *Writer, encode func(block []T) (columns any, err error)) {
	w.Value(l.length)
	for i, block := range l.blocks {
		if block == nil {
			w.Section(l.stored[i])
			continue
		}
		columns, err := encode(block)
		if err != nil {
			w.Fail(err)
			return
		}
		w.Value(columns)
	}
}

// Read reads a list that [List.Write] wrote. decode returns the elements of a block, of which the first one has the
// index first.
func (l *List[T]) Read(r *Reader, decode func(first int, content []byte) ([]T, error)) {
	*l = List[T]{decode: decode}
	r.Value(&l.length)
	for first := 0; first < l.length && r.err == nil; first += blockSize {
		l.stored = append(l.stored, r.Section())
	}
	if l.length < 0 || r.err != nil {
		*l = List[T]{}
		r.Fail(errLength)
		return
	}
	l.blocks = make([][]T, len(l.stored))
}
