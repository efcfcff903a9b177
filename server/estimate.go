package server

import "reflect"

const (
	// entryOverhead is the approximate size of a queue entry without its texts, in bytes.
	entryOverhead = 256
	scalarSize    = 8
	estimateDepth = 64
)

// estimate returns the approximate length of v as JSON, in bytes, or of the part of v that is in memory. It
// stops at limit, so its cost is bounded for any v.
func estimate(v any, limit int) int {
	if s, ok := v.(sized); ok {
		return min(s.JSONSize(), limit)
	}
	if s, ok := v.(streamer); ok {
		if size := s.StoredSize(); size > 0 {
			return min(size, limit)
		}
	}
	left := limit
	subtract(reflect.ValueOf(v), &left, estimateDepth)
	return limit - max(left, 0)
}

func subtract(v reflect.Value, left *int, depth int) {
	if *left <= 0 || depth == 0 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		*left -= v.Len() + scalarSize
	case reflect.Slice, reflect.Array:
		subtractElements(v, left, depth-1)
	case reflect.Map:
		for entries := v.MapRange(); *left > 0 && entries.Next(); {
			subtract(entries.Key(), left, depth-1)
			subtract(entries.Value(), left, depth-1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Field(i); field.CanInterface() {
				*left -= scalarSize
				subtract(field, left, depth-1)
			}
		}
	case reflect.Pointer, reflect.Interface:
		subtract(v.Elem(), left, depth-1)
	default:
		*left -= scalarSize
	}
}

func subtractElements(v reflect.Value, left *int, depth int) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		*left -= v.Len()
		return
	}
	for i := 0; i < v.Len() && *left > 0; i++ {
		subtract(v.Index(i), left, depth)
	}
}
