package digest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/digest"
)

func ranking(question string, texts ...string) *digest.Ranking {
	r := digest.NewRanking(question)
	for _, text := range texts {
		r.Append(r.Add(), text)
	}
	return r
}

// TestRankingFindsTheTextOfAQuestion asks in three languages, for rare words among frequent ones, for parts of
// names and for words of one stem.
func TestRankingFindsTheTextOfAQuestion(t *testing.T) {
	texts := []string{
		"The test of the parser passes. The test of the lexer passes. All tests pass now.",
		"sed -n 1,80p core/engine/recall/service.go\npackage recall\n\n// service finds items.",
		"FAIL: TestLogin\n  session.go:41: Error: connection refused (ECONNREFUSED)",
		"The headers of all files name the licensing terms of the foundation.",
		"The customer pays at the counter, and the payment provider is Adyen.",
		"Two guests never get the same seat: a unique index on table and hour.",
		"Die Zahlungsabwicklung läuft über einen eigenen Dienst, weil die Prüfung lange dauert.",
		"Der Anmeldeschlüssel wird nach dreißig Tagen gelöscht.",
		"La facturation part le premier jour du mois.",
		"Les utilisateurs suppriment leur compte dans les réglages.",
		"func getUserProfile(id int) reads the cache, then the test database.",
	}
	for question, want := range map[string]int{
		"which test has ECONNREFUSED?":                       2,
		"what did the test of session.go print":              2,
		"what is in recall/service.go":                       1,
		"the test with the user profile":                     10,
		"where is get_user_profile":                          10,
		"which licence do the files have?":                   3,
		"who handles payments for the test?":                 4,
		"how are seats kept unique?":                         5,
		"Was macht die Zahlung so langsam?":                  6,
		"Wann werden Anmeldeschlüssel gelöscht?":             7,
		"Wo bleibt der Schlüssel?":                           7,
		"Quand est-ce que les factures partent ?":            8,
		"Comment un utilisateur peut-il supprimer son accès": 9,
	} {
		best := ranking(question, texts...).Best(3)
		require.NotEmpty(t, best, question)
		require.Equal(t, texts[want], texts[best[0]], question)
	}
	require.Empty(t, ranking("weather", texts...).Best(3))
	require.Empty(t, ranking("", texts...).Best(3))
	require.Empty(t, ranking("weather").Best(3))
	require.Equal(t, []int{0, 1}, ranking("same", "the same", "the same", "the same").Best(2), "in order")
}

// TestRankingFindsGeneratedQuestions asks for one of 300 texts in questions that name a file and use another form of
// the subject, among words that are in many texts. The text must be among the first three.
func TestRankingFindsGeneratedQuestions(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	some := func(words []string, n int) (picked []string) {
		for range n {
			picked = append(picked, words[random.IntN(len(words))])
		}
		return picked
	}
	// The first form of a subject is in texts, the second one in questions.
	forms := strings.Fields("licensing/licence payments/pays migrations/migrate authentication/authenticate " +
		"scheduler/schedules caching/caches rendering/renders compression/compress validation/validity " +
		"Zahlungen/Zahlungsart Anmeldung/Anmeldungen Prüfungen/Prüfung Sicherung/Sicherungen Rechnungen/Rechnungslauf " +
		"facturation/factures utilisateurs/utilisateur chargement/charger vérification/vérifier suppression/supprimer")
	common := strings.Fields("test file error function line value result output package build check code name path list " +
		"Datei Fehler Zeile Wert Ergebnis läuft wieder fichier erreur ligne valeur résultat exécute encore change")
	names := strings.Fields("queue store session parser worker index router ledger token buffer stream lock")
	var texts, questions []string
	for i := range 300 {
		subject, asked, _ := strings.Cut(forms[i%len(forms)], "/")
		file := some(names, 2)
		texts = append(texts, strings.Join(append(some(common, 10+random.IntN(50)), subject,
			fmt.Sprintf("%s/%s_%s.go", names[i%len(names)], file[0], file[1])), " "))
		questions = append(questions, fmt.Sprintf("%s: %s in %s%s?", strings.Join(some(common, 4), " "), asked,
			file[0], strings.ToUpper(file[1][:1])+file[1][1:]))
	}
	found := 0
	for i, question := range questions[:100] {
		if slices.Contains(ranking(question, texts...).Best(3), i) {
			found++
		}
	}
	require.GreaterOrEqual(t, found, 95)
}

// TestRankingCountsAllPartsOfAText ranks a text by a part that is appended later.
func TestRankingCountsAllPartsOfAText(t *testing.T) {
	r := ranking("server.go", "package main", "ok")
	require.Empty(t, r.Best(3))
	r.Subject(1, "cat cmd/server.go")
	require.Equal(t, []int{1}, r.Best(3))
}
