package words

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// similarTo returns the terms of a lexicon that are similar to a word.
func similarTo(word string, texts ...string) (found []string) {
	var l Lexicon
	for _, text := range texts {
		for _, other := range strings.Fields(text) {
			l.Add(Term(other))
		}
	}
	for _, m := range l.Similar(Term(word)) {
		found = append(found, l.Term(m.Term))
	}
	return found
}

// TestOtherFormsOfAWordAreSimilar asks for inflected and derived forms and for compounds in five languages, among words
// that have a few letters in common with them.
func TestOtherFormsOfAWordAreSimilar(t *testing.T) {
	others := "liquid pavement zählen entsetzen schlafen fauteuil supplier decir feriado cinta"
	for word, forms := range map[string]string{
		"licence":     "licensing licensed",
		"validity":    "validate validation",
		"entscheiden": "entscheidung entschieden entscheidungen",
		"löschen":     "gelöscht löschung löscht",
		"schlüssel":   "anmeldeschlüssel schlüsseln verschlüsselt",
		"facturation": "factures facturer",
		"vérifier":    "vérification vérifiées",
		"eliminar":    "eliminación eliminados",
		"cifrado":     "cifrada cifrar",
		"fattura":     "fatturazione fatture",
		"traduzione":  "traduzioni",
	} {
		found := similarTo(word, others, forms)
		for _, form := range strings.Fields(forms) {
			require.Contains(t, found, Term(form), word)
		}
		require.Len(t, found, len(strings.Fields(forms)), "%s: %v", word, found)
	}
}

func TestShortWordsNumbersAndDenseScriptsAreSimilarToNone(t *testing.T) {
	require.Empty(t, similarTo("go", "go god gopher"))
	require.Empty(t, similarTo("sha256", "sha256 sha256s"))
	require.Empty(t, similarTo("注文番号", "注文番号表"))
	require.Empty(t, similarTo("", "word"))
}

func TestLettersLoseTheirMarks(t *testing.T) {
	for word, want := range map[string]string{
		"größe": "große", "clé": "cle", "ñandú": "nandu", "e\u0301te": "ete", "șef": "șef", "plain": "plain", "склад": "склад",
		"": "",
	} {
		require.Equal(t, want, Fold(word), word)
	}
	require.Equal(t, Terms("Schlüssel"), Terms("Schlussel"))
}
