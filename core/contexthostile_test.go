package core_test

import "strings"

// hostileEdits returns rollouts with context_edit lines that no server writes.
func hostileEdits() []string {
	item := func(text string) string {
		return `{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"` +
			text + `"}]}}` + "\n"
	}
	edit := func(payload string) string { return `{"type":"context_edit","payload":` + payload + "}\n" }
	head := metaLine + item("one") + item("two") +
		`{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{}","call_id":"c"}}` + "\n" +
		`{"type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"x"}}` + "\n" +
		`{"type":"compacted","payload":{"message":"S","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"S"}]}]}}` + "\n" +
		item("three")
	undo := edit(`{"op":"undo","revision":3,"target":1}`)
	encrypted := func(kind string) string {
		return `{"type":"compacted","payload":{"message":"","replacement_history":[{"type":"` + kind +
			`","encrypted_content":"xyz"}]}}` + "\n"
	}
	return []string{
		head + encrypted("compaction") + item("later"),
		head + encrypted("compaction_summary") + item("later"),
		head + encrypted("context_compaction") + item("later"),
		head + edit(`{"op":"exclude","revision":9223372036854775807,"ids":["r6"]}`) +
			edit(`{"op":"undo","revision":1,"target":9223372036854775807}`),
		head + edit(`{"op":"exclude","revision":-9,"ids":["r6","r6","r5.0"],"tokens":[-1,9223372036854775807]}`),
		head + edit(`{"op":"delete","revision":9007199254740991,"ids":["r4"],"tokens":[99999999999]}`) +
			edit(`{"op":"include","ids":["r4"]}`) + undo,
		head + edit(`{"op":"nonsense","revision":2,"ids":["r1","r5.0"],"text":"x"}`) + undo +
			edit(`{"op":"redo","target":1}`),
		head + edit(`{"op":"compact","revision":2}`) + edit(`{"op":"undo","revision":3,"target":2}`),
		head + edit(`{"op":"exclude","revision":2,"ids":["1","r","r5.","r5.0.0","r5.-1","r-5","rr5","R5","r5.00","r 5","r99999999999999999999","r5.99999999999","",".","r.0"]}`),
		head + undo + undo + edit(`{"op":"redo","target":1}`) + edit(`{"op":"redo","target":1}`) +
			edit(`{"op":"undo","target":0}`) + edit(`{"op":"undo"}`),
		head + edit(`{"op":"replace","ids":["r1","r4","r5.0","r6"]}`) +
			edit(`{"op":"replace","ids":["r1","r3","r6"],"text":"x"}`) + edit(`{"op":"restore","ids":["r1"]}`),
		head + undo + edit(`{"op":"delete","revision":4,"ids":["r3"]}`) +
			edit(`{"op":"exclude","revision":5,"ids":["r4"],"tokens":[5]}`) + edit(`{"op":"undo","revision":6,"target":6}`),
		head + edit(`{"op":7}`) + edit(`{"op":"exclude","ids":7}`) + edit(`{"op":"exclude","tokens":[1e400]}`) + edit(`[]`) +
			edit(`null`) + edit(`{}`) + edit(`{"op":"exclude"}`),
		metaLine + edit(`{"op":"exclude","ids":["r2"]}`) + item("later") + edit(`{"op":"restore"}`) +
			edit(`{"op":"undo","target":2}`),
		head + edit(`{"op":"include","returns":true,"ids":["r1","r3","r4","r5.0","r9"]}`) +
			edit(`{"op":"exclude","returns":true,"ids":["r2"]}`) + edit(`{"op":"undo","target":7}`),
		head + strings.Repeat(edit(`{"op":"exclude","ids":["r6"]}`)+edit(`{"op":"include","ids":["r6"]}`), 50),
		head + `{"type":"compacted","payload":{"message":""}}` + "\n" +
			`{"type":"compacted","payload":{"message":"T","replacement_history":[]}}` + "\n" +
			edit(`{"op":"exclude","ids":["r7.0"]}`) + edit(`{"op":"undo","revision":9,"target":3}`),
		metaLine + `{"type":"event_msg","payload":{"type":"token_count","info":{"counted_input_tokens":1,"last_token_usage":{"input_tokens":9223372036854775807}}}}` + "\n" + item("x"),
	}
}
