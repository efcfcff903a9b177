package disk

import (
	"iter"
	"runtime"
)

// All goroutines of this file end before the call or the iteration that started them does, and their panics pass to
// its caller.

// bytesPerWorker is the amount of data that is worth a goroutine, in bytes.
const bytesPerWorker = 1 << 20

// Workers returns the number of goroutines for an amount of data in bytes: one per MiB, at most
// one per CPU.
func Workers(size int) int {
	return min(runtime.GOMAXPROCS(0), 1+size/bytesPerWorker)
}

// Parallel calls f with 0 to n-1, each in a goroutine, and waits for all calls.
func Parallel(n int, f func(int)) {
	if n == 1 {
		f(0)
		return
	}
	numbers := func(yield func(int) bool) {
		for i := 0; i < n && yield(i); i++ {
		}
	}
	for range InOrder(numbers, func(i int) struct{} { f(i); return struct{}{} }) {
	}
}

// InOrder returns an iterator over the results of jobs, in their order. One job per CPU is under way, each in a
// goroutine, while a result is handled.
func InOrder[J, R any](jobs iter.Seq[J], do func(J) R) iter.Seq[R] {
	return func(yield func(R) bool) {
		var begun []<-chan outcome[R]
		defer func() {
			for _, result := range begun {
				<-result
			}
		}()
		next := func() bool {
			result := <-begun[0]
			begun = begun[1:]
			if result.panicked != nil {
				panic(result.panicked)
			}
			return yield(result.value)
		}
		for job := range jobs {
			begun = append(begun, begin(job, do))
			if len(begun) > runtime.GOMAXPROCS(0) && !next() {
				return
			}
		}
		for len(begun) > 0 && next() {
		}
	}
}

// outcome is the result of a job, or the value of a panic that ended it.
type outcome[R any] struct {
	value    R
	panicked any
}

func begin[J, R any](job J, do func(J) R) <-chan outcome[R] {
	result := make(chan outcome[R], 1)
	go func() {
		var o outcome[R]
		defer func() {
			o.panicked = recover()
			result <- o
		}()
		o.value = do(job)
	}()
	return result
}

// Ahead returns an iterator over values. A goroutine makes the next value while one is handled.
func Ahead[T any](values iter.Seq[T]) iter.Seq[T] {
	return func(yield func(T) bool) {
		made, stop := make(chan T), make(chan struct{})
		var panicked any
		go func() {
			defer close(made)
			defer func() { panicked = recover() }()
			for v := range values {
				select {
				case made <- v:
				case <-stop:
					return
				}
			}
		}()
		defer func() {
			close(stop)
			for range made {
			}
		}()
		for v := range made {
			if !yield(v) {
				return
			}
		}
		if panicked != nil {
			panic(panicked)
		}
	}
}
