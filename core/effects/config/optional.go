package config

func or[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

func firstSet[T any](a, b *T) *T {
	if a != nil {
		return a
	}
	return b
}
