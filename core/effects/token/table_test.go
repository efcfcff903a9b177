package token_test

import (
	"encoding/binary"
	"flag"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tiktoken-go/tokenizer/codec"
)

var update = flag.Bool("update", false, "write the files of tokens instead of comparing them")

// TestTokensAreThoseOfTheLibrary compares the embedded files. With -update it writes them.
func TestTokensAreThoseOfTheLibrary(t *testing.T) {
	for name, library := range map[string]*codec.Codec{
		"o200k_base.tokens":  codec.NewO200kBase(),
		"cl100k_base.tokens": codec.NewCl100kBase(),
	} {
		want := tokensOf(t, library)
		if *update {
			require.NoError(t, os.WriteFile(name, want, 0o644))
		}
		got, err := os.ReadFile(name)
		require.NoError(t, err)
		require.True(t, string(want) == string(got), "%s is not up to date: run go test ./core/effects/token -update", name)
	}
}

// tokensOf returns the file of a codec's tokens. The library rejects the first rank without a token.
func tokensOf(t *testing.T, library *codec.Codec) []byte {
	var lengths, text []byte
	for {
		token, err := library.Decode([]uint{uint(len(lengths))})
		if err != nil {
			break
		}
		require.LessOrEqual(t, len(token), math.MaxUint8)
		lengths = append(lengths, byte(len(token)))
		text = append(text, token...)
	}
	file := binary.LittleEndian.AppendUint32(nil, uint32(len(lengths)))
	return append(append(file, lengths...), text...)
}
