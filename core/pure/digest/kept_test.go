package digest_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/digest"
	"appserver/protocol"
)

// session is a synthetic session of steps: each reads, edits, tests, and sometimes fails and decides.
type session struct {
	name, language string
	// steps is how many steps it has, and area names its folders.
	steps int
	area  string
}

// phrases are the texts of a language. %s is the area, %d the step.
var phrases = map[string]struct{ request, rule, decision, work, question string }{
	"en": {"Please improve step %d of %s.", "Never change the format of version %d in %s/schema.sql.",
		"I decided to keep the cache of %s in layer %d because a second copy costs memory.",
		"The change of step %d in %s compiles now.", "Should I remove the old reader of %s (step %d)?"},
	"de": {"Bitte verbessere Schritt %d von %s.", "Ändere nie das Format der Version %d in %s/schema.sql.",
		"Wir haben uns entschieden, den Zwischenspeicher von %s in Ebene %d zu behalten, weil Kopien Speicher kosten.",
		"Die Änderung von Schritt %d in %s lässt sich übersetzen.", "Soll ich das alte Lesen von %s entfernen (Schritt %d)?"},
	"fr": {"Améliore l'étape %d de %s.", "Ne change jamais le format de la version %d dans %s/schema.sql.",
		"J'ai choisi de garder le cache de %s dans la couche %d parce qu'une copie coûte de la mémoire.",
		"L'étape %d de %s compile, avec des listes au lieu de tableaux.",
		"Faut-il supprimer l'ancien lecteur de %s (étape %d) ?"},
}

// items returns the session. Its files are in "/repo", and every command names it.
func (s session) items() (items []protocol.ResponseItem) {
	p := phrases[s.language]
	run := func(i int, script, output string) {
		id := fmt.Sprintf("%s-%d-%d", s.name, i, len(items))
		items = append(items, shell(id, script), answer(id, output))
	}
	for i := range s.steps {
		text := fmt.Sprintf(p.request, i, s.area)
		if i%10 == 0 {
			text += " " + fmt.Sprintf(p.rule, i, s.area)
		}
		items = append(items, user(text))
		file := fmt.Sprintf("/repo/internal/%s/part%d/%s_%d.go", s.area, i%4, []string{"reader", "writer", "cache"}[i%3], i)
		run(i, "sed -n 1,200p "+file, ok("package x"))
		run(i, fmt.Sprintf("cd /repo && rg -n 'type.*%d' internal/%s", i, s.area), ok("a.go:1"))
		items = append(items, custom("", "apply_patch", "*** Begin Patch\n*** Update File: "+file+"\n@@\n-a\n+b\n*** End Patch\n"))
		if i%5 == 1 {
			run(i, fmt.Sprintf("cd /repo && go test ./internal/%s/part%d -run TestStep%d -count=1", s.area, i%4, i),
				fmt.Sprintf("Exit code: 1\nWall time: 2.0 seconds\nOutput:\n=== RUN   TestStep%d\n--- FAIL: TestStep%d (0.01s)\n"+
					"    %s_test.go:%d: want %d, got 0\nFAIL\n", i, i, s.area, 10+i, i))
		} else {
			run(i, fmt.Sprintf("cd /repo && go test ./internal/%s/part%d", s.area, i%4), ok("ok"))
		}
		if i%6 == 2 {
			items = append(items, assistant(fmt.Sprintf(p.decision, s.area, i)))
		}
		items = append(items, assistant(fmt.Sprintf(p.work, i, s.area)))
	}
	return append(items, assistant(fmt.Sprintf(p.question, s.area, s.steps)))
}

func ok(output string) string {
	return "Exit code: 0\nWall time: 0.1 seconds\nOutput:\n" + output + "\n"
}

func sessions() []session {
	return []session{
		{"short", "en", 6, "parser"}, {"usual", "en", 20, "lexer"}, {"long", "en", 50, "storage"},
		{"very long", "en", 80, "engine"}, {"short", "de", 8, "zerteiler"}, {"usual", "de", 25, "speicher"},
		{"long", "de", 60, "netz"}, {"short", "fr", 8, "analyseur"}, {"usual", "fr", 25, "stockage"},
		{"long", "fr", 60, "serveur"},
	}
}

// kept counts the facts of a kind that an extract keeps.
type kept struct{ all, kept int }

// measure adds the facts of a session, and those that its extract keeps.
func measure(s session, limit int, counts *[5]kept) {
	source := &digest.Source{Items: s.items(), Dir: "/repo"}
	facts := source.Facts()
	missing := lists(facts.Missing(source.Extract(limit)))
	for kind, list := range lists(facts) {
		counts[kind].all += len(list)
		counts[kind].kept += len(list) - len(missing[kind])
	}
}

func TestFactsKept(t *testing.T) {
	names := [5]string{"files", "commands", "decisions", "questions", "rules"}
	for _, limits := range []struct {
		bytes   int
		percent [5]int
		total   int
	}{
		{12_000, [5]int{100, 100, 100, 100, 100}, 100},
		{4_800, [5]int{95, 100, 100, 100, 100}, 97},
	} {
		var sum [5]kept
		total := kept{}
		for _, s := range sessions() {
			var counts [5]kept
			measure(s, limits.bytes, &counts)
			text := ""
			for kind, c := range counts {
				sum[kind].all, sum[kind].kept = sum[kind].all+c.all, sum[kind].kept+c.kept
				text += fmt.Sprintf(" %s %d/%d", names[kind], c.kept, c.all)
			}
			t.Logf("%6d bytes, %s %-9s%s", limits.bytes, s.language, s.name, text)
		}
		for kind, c := range sum {
			require.Positive(t, c.all, names[kind])
			require.GreaterOrEqual(t, c.kept*100, c.all*limits.percent[kind], "%s: %d of %d", names[kind], c.kept, c.all)
			total.all, total.kept = total.all+c.all, total.kept+c.kept
		}
		t.Logf("%6d bytes, all: %d of %d", limits.bytes, total.kept, total.all)
		require.GreaterOrEqual(t, total.kept*100, total.all*limits.total)
	}
}
