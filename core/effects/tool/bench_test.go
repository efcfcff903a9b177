//go:build linux || darwin

package tool

import (
	"testing"

	"appserver/core"
)

func BenchmarkRun(b *testing.B) {
	for name, s := range shells() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s.Run(b.Context(), core.Command{Argv: []string{"/bin/true"}}, nil, func(string) {}, func(string) {})
			}
		})
	}
}

func BenchmarkOutput(b *testing.B) {
	s := shells()["direct"]
	b.SetBytes(100 << 20)
	for b.Loop() {
		s.Run(b.Context(), script("head -c 104857600 /dev/zero"), nil, func(string) {}, func(string) {})
	}
}
