package line

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestScannerAgreesWithEncodingJSONOnEveryByteOfAString(t *testing.T) {
	for length := range 20 {
		for at := range length {
			for c := range 256 {
				text := []byte(`"` + strings.Repeat("é", length) + `"`)[:length+1]
				text[1+at] = byte(c)
				text = append(text, `",`...)
				text = append([]byte{'['}, append(text, `0]`...)...)
				require.Equal(t, json.Valid(text), isJSON(text), "%q", text)
			}
		}
	}
}

func TestScannerAgreesWithEncodingJSONOnMutants(t *testing.T) {
	const alphabet = `{}[]",:\u0e+-.1 9tfn` + "\n\x00\x1f\x7f\xff"
	whole := []byte(
		`{"a":[1,-0.5e+3,true,false,null,"x\u00e9\n\"y"],"b":{"c":{}},"d":[ ],"e":"` + strings.Repeat(
			"long ",
			5,
		) + `","f":10E-2}`,
	)
	chance := rand.New(rand.NewPCG(3, 4))
	sound := 0
	for range 50_000 {
		b := append([]byte(nil), whole...)
		for range 1 + chance.IntN(2) {
			b[chance.IntN(len(b))] = alphabet[chance.IntN(len(alphabet))]
		}
		b = b[:len(b)-chance.IntN(2)*chance.IntN(len(b))]
		require.Equal(t, json.Valid(b), isJSON(b), "%q", b)
		sound += count(isJSON(b))
	}
	require.Greater(t, sound, 1000, "not all mutants are malformed")
}

func TestScannerStopsAtTheDepthOfEncodingJSON(t *testing.T) {
	for pair, opener := range map[string]string{"[]": "[", "{}": `{"a":`} {
		for depth, want := range map[int]bool{maxDepth: true, maxDepth + 1: false, 3_000_000: false} {
			b := []byte(strings.Repeat(opener, depth-1) + pair + strings.Repeat(pair[1:], depth-1))
			require.Equal(t, want, isJSON(b), "%d", depth)
			require.Equal(t, want, json.Valid(b), "%d", depth)
		}
	}
}
