package refusal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/effects/model/refusal"
	"appserver/protocol"
)

const picture = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAACAUQAOw=="

// prompt returns a prompt with an image in an older message of the user and one in the newest, and
// with the tools shell, shell_2 and plan.
func prompt() *core.Prompt {
	message := func(role, text, image string) protocol.ResponseItem {
		content := []protocol.ContentItem{{Type: protocol.ContentInputText, Text: text}}
		if image != "" {
			content = append(content, protocol.ContentItem{Type: protocol.ContentInputImage, ImageURL: image})
		}
		return protocol.ResponseItem{ResponseItemVariant: &protocol.Message{Role: role, Content: content}}
	}
	return &core.Prompt{Model: "m", Effort: "high", WebSearch: &core.WebSearchTool{},
		Items: []protocol.ResponseItem{message("user", "a", picture), message("assistant", "b", ""),
			message("user", "c", picture+"AA")},
		Tools: []core.ToolSpec{{Name: "shell"}, {Name: "shell_2"}, {Name: "plan"}}}
}

func request(chat bool) *refusal.Request {
	members := []string{"prompt_cache_key", "parallel_tool_calls", "include", "reasoning.summary", "reasoning", "text.verbosity", "text"}
	if chat {
		members = []string{"prompt_cache_key", "parallel_tool_calls", "stream_options", "service_tier"}
	}
	return &refusal.Request{Chat: chat, Members: members, Tools: []string{"shell", "shell_2", "plan"}, Custom: !chat,
		Search: !chat, NullContent: true}
}

// learned returns the demands after a refusal.
func learned(r refusal.Refusal, chat bool) (*refusal.Demands, refusal.Change) {
	var book refusal.Book
	change := book.Learn(prompt(), &r, request(chat))
	return book.Of("m"), change
}

// TestMembersAreRefusedByName has the ways in which providers name a member that they do not take.
func TestMembersAreRefusedByName(t *testing.T) {
	for _, c := range []struct {
		text, param, omitted string
		chat                 bool
	}{
		{"Unrecognized request argument supplied: parallel_tool_calls", "", "parallel_tool_calls", true},
		{"property 'parallelToolCalls' is unsupported", "", "parallel_tool_calls", true},
		{"parallel tool calls are not supported by this model", "", "parallel_tool_calls", true},
		{"Extra inputs are not permitted", "body.stream_options", "stream_options", true},
		{"unexpected keyword argument 'prompt_cache_key'", "", "prompt_cache_key", true},
		{"[{'type': 'extra_forbidden', 'loc': ('body', 'service_tier')}]", "", "service_tier", true},
		{"Unknown parameter: 'include'.", "include", "include", false},
		{"Unknown parameter: `text`", "", "text", false},
		{"the field text is not allowed", "", "text", false},
		{"unknown field: text", "", "text", false},
		{"Your organization must be verified to generate reasoning summaries.", "reasoning.summary", "reasoning.summary", false},
		{"Unsupported parameter: 'text.verbosity' is not supported with this model.", "text.verbosity", "text.verbosity", false},

		{"Invalid 'input[3].content[0].text': string too long.", "input[3].content[0].text", "", false},
		{"Item 'rs_1' of type 'web' was provided without its required following item.", "input", "", false},
		{"The request must include at least one message that was not stored before.", "", "", false},
		{"Please include a text with your reasoning. It is required.", "", "", false},
		{"messages[2]: stream_options must not change after prompt_cache_key was used", "", "", true},
		{"Unknown parameter: 'tools'. You sent prompt_cache_key.", "tools", "", true},
		{"The model is unknown", "model", "", true},
	} {
		d, change := learned(refusal.Refusal{Status: 400, Text: c.text, Param: c.param}, c.chat)
		want := map[string]bool(nil)
		if c.omitted != "" {
			want = map[string]bool{c.omitted: true}
			require.Contains(t, change.Notice, c.omitted)
			require.False(t, change.Quiet, "people are told what the request lacks")
		}
		require.Equal(t, want, d.Omitted, c.text)
	}
}

func TestNothingIsLearnedFromOtherErrors(t *testing.T) {
	for _, status := range []int{0, 200, 401, 403, 404, 408, 413, 429, 502, 503} {
		_, change := learned(refusal.Refusal{Status: status, Text: "Unknown parameter: 'prompt_cache_key'"}, true)
		require.Empty(t, change, status)
	}
	_, change := learned(refusal.Refusal{Status: 400, TooLong: true, Param: "text", Text: "the context window is exceeded: 'text' is not allowed"}, false)
	require.Empty(t, change, "what is too long names members at random")
}

func TestEffortsAreChangedToTheNearestOne(t *testing.T) {
	for text, want := range map[string]string{
		"Unsupported value: 'reasoning_effort' does not support 'high' with this model. Supported values are: 'low', and 'medium'.": "medium",
		"`reasoning_effort` must be one of `none` or `default`":                                                                     "",
		"reasoning_effort: expected one of 'minimal'":                                                                               "minimal",
		"Unrecognized request argument supplied: reasoning_effort":                                                                  "",
		`registry.ollama.ai/library/gemma3:4b does not support thinking`:                                                            "",
		`think value "high" is not supported for this model`:                                                                        "",
		"Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.": "none",
		"reasoningEffort is an unknown field": "",
		"[{'loc': ('body','reasoning_effort'), 'msg': \"Input should be 'none', 'low' or 'medium'\"}]": "medium",
	} {
		d, change := learned(refusal.Refusal{Status: 400, Text: text}, true)
		effort, changed := d.Effort("high")
		require.True(t, changed, text)
		require.Equal(t, want, effort, text)
		require.Contains(t, change.Notice, "effort")
		_, other := d.Effort("low")
		require.False(t, other)
	}
	d, _ := learned(refusal.Refusal{Status: 400, Text: "The `reasoning_content` in the thinking mode must be passed back."}, true)
	require.Empty(t, d.Efforts)
	require.Equal(t, refusal.EchoReasoning, d.Echo)
	d, _ = learned(refusal.Refusal{Status: 400, Text: "unsupported", Param: "reasoning.effort"}, false)
	_, changed := d.Effort("high")
	require.True(t, changed)
}

// TestARefusedEffortIsLeftOutAtLast has a provider that refuses the effort that it named.
func TestARefusedEffortIsLeftOutAtLast(t *testing.T) {
	var book refusal.Book
	r := &refusal.Refusal{Status: 400, Text: "'reasoning_effort' is not supported. Supported values are: 'low'"}
	for _, want := range []string{"low", ""} {
		require.NotEmpty(t, book.Learn(prompt(), r, request(true)))
		effort, _ := book.Of("m").Effort("high")
		require.Equal(t, want, effort)
	}
	require.Empty(t, book.Learn(prompt(), r, request(true)), "nothing is left to change")
}

// TestEffortsOfOllama: the API knows three efforts and none, and most models only whether to reason.
func TestEffortsOfOllama(t *testing.T) {
	for wanted, nearest := range map[string]string{"xhigh": "high", "max": "high", "minimal": "low"} {
		var book refusal.Book
		p := prompt()
		p.Effort = wanted
		for _, c := range []struct{ text, sent string }{
			{`invalid reasoning value: '` + wanted + `' (must be "high", "medium", "low", or "none")`, nearest},
			{`think value "` + nearest + `" is not supported for this model`, ""},
		} {
			change := book.Learn(p, &refusal.Refusal{Status: 400, Text: c.text}, request(true))
			require.Contains(t, change.Notice, "effort")
			sent, changed := book.Of("m").Effort(wanted)
			require.True(t, changed)
			require.Equal(t, c.sent, sent, wanted)
		}
	}
}

func TestRefusedToolsAreLeftOut(t *testing.T) {
	for _, c := range []struct{ text, param, tool string }{
		{"Invalid schema for function 'shell_2': In context=('properties', 'ids'), array schema missing items.", "tools[1].function.parameters", "shell_2"},
		{"Invalid schema for function 'shell': array schema missing items.", "", "shell"},
		{"tools.2.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12", "", "plan"},
		{"* GenerateContentRequest.tools[0].function_declarations[1].parameters.properties[x].items: missing field.", "", "shell_2"},
		{"invalid", "tools[2].parameters", "plan"},
		{"attempted to call tool 'shell' which was not in request.tools: invalid schema", "", ""},
		{"The following tool_call_ids did not have response messages: shell parameters", "", ""},
		{"I have no shell", "", ""},
		{"tools[9].function: invalid schema", "", ""},
		{"tool call validation failed: parameters for tool shell did not match schema: errors: missing properties: 'x'", "", ""},
		{"messages.5.tool_calls[0].function: schema validation of shell failed", "", ""},
		{"invalid function parameters for shell in model output", "", ""},
		{"Unknown parameter: 'tools[0].strict'", "tools[0].strict", ""},
		{"Extra inputs are not permitted", "body.tools.0.function.strict", ""},
		{`Unknown name "strict" at 'tools[0].function': Cannot find field.`, "", ""},
	} {
		d, change := learned(refusal.Refusal{Status: 400, Text: c.text, Param: c.param}, true)
		if c.tool == "" {
			require.Empty(t, d.Tools, c.text)
			continue
		}
		require.Contains(t, change.Notice, c.tool)
		for _, left := range d.Prompt(prompt()).Tools {
			require.NotEqual(t, c.tool, left.Name, c.text)
		}
	}
}

// TestAFailedCallIsNoRefusalOfItsTool has the code of Groq for a call that the model wrote wrongly.
func TestAFailedCallIsNoRefusalOfItsTool(t *testing.T) {
	d, _ := learned(refusal.Refusal{Status: 400, Text: "schema of shell", Words: []string{"tool_use_failed"}}, true)
	require.Empty(t, d.Tools)
}

func TestStrictIsLeftOutOfAllFunctions(t *testing.T) {
	for _, r := range []refusal.Refusal{{Text: "Unknown parameter: 'tools[0].strict'"},
		{Text: "Extra inputs are not permitted", Param: "body.tools.0.function.strict"},
		{Text: `Unknown name "strict" at 'tools[0]': Cannot find field.`}} {
		r.Status = 400
		d, change := learned(r, false)
		require.True(t, d.NoStrict, r.Text)
		require.Empty(t, d.Tools)
		require.True(t, change.Quiet)
	}
}

func TestModelsWithoutToolsGetNone(t *testing.T) {
	for _, text := range []string{
		"registry.ollama.ai/library/gemma3:4b does not support tools", "Tool use is not supported for this model",
		"This model doesn't support tool calling", "Function calling is not enabled for this model", "tools are not supported",
	} {
		d, change := learned(refusal.Refusal{Status: 400, Text: text}, true)
		require.True(t, d.NoTools, text)
		require.Empty(t, d.Prompt(prompt()).Tools)
		require.Contains(t, change.Notice, "Choose another model")
	}
	d, _ := learned(refusal.Refusal{Status: 400, Text: `"auto" tool choice requires --enable-auto-tool-choice`}, true)
	require.False(t, d.NoTools, "a setting of the server is missing")
}

func TestModelsWithoutImagesGetNotes(t *testing.T) {
	for _, c := range []struct {
		status int
		text   string
	}{
		{400, "unknown variant `image_url`, expected `text`"}, {400, "llama-3 is not a multimodal model"},
		{400, "At most 0 image(s) may be provided in one prompt."},
		{500, "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"},
		{404, "No endpoints found that support image input"}, {400, "messages.content.type 参数非法，取值范围 ['text']"},
		{400, "Invalid content type. image_url is only supported by certain models."},
		{400, "This model does not support image input"}, {422, "the model does not have vision capabilities: vision is not supported"},
		{400, "该模型不支持图片输入"},
	} {
		d, change := learned(refusal.Refusal{Status: c.status, Text: c.text}, true)
		require.True(t, d.NoImages, c.text)
		require.Contains(t, change.Notice, "does not take images")
		require.Equal(t, 2, notes(d.Prompt(prompt())), c.text)
	}
}

// TestModelsKnownToTakeNoImagesGetNotes: no refusal is needed, and other models are not affected.
func TestModelsKnownToTakeNoImagesGetNotes(t *testing.T) {
	p, d := prompt(), new(refusal.Book).Of("m")
	p.NoImages = true
	require.Equal(t, 2, notes(d.Prompt(p)))
	require.Zero(t, notes(d.Prompt(prompt())))
}

func TestOtherErrorsLeaveImages(t *testing.T) {
	for _, text := range []string{"Provisioned throughput is not available for this deployment", "division by zero",
		"The requested revision is not supported", "supervision: worker died"} {
		d, _ := learned(refusal.Refusal{Status: 500, Text: text}, true)
		require.False(t, d.NoImages, text)
		require.Empty(t, d.Images, text)
	}
}

// notes counts the notes in the places of images.
func notes(p *core.Prompt) (n int) {
	for _, item := range p.Items {
		for _, part := range item.ResponseItemVariant.(*protocol.Message).Content {
			if part.Type == protocol.ContentInputText && len(part.Text) > 10 {
				n++
			}
		}
	}
	return n
}

// TestABadImageIsLeftOut leaves out the images since the last answer. If that does not help, it leaves out all.
func TestABadImageIsLeftOut(t *testing.T) {
	var book refusal.Book
	r := &refusal.Refusal{Status: 400, Text: "The image data you provided does not represent a valid image."}
	for _, want := range []int{1, 2} {
		require.NotEmpty(t, book.Learn(prompt(), r, request(true)))
		d := book.Of("m")
		require.False(t, d.NoImages, "the model takes other images")
		require.Equal(t, want, notes(d.Prompt(prompt())))
	}
	require.Empty(t, book.Learn(prompt(), r, request(true)))
}

func TestTemplatesDemandShapes(t *testing.T) {
	var (
		turns  = refusal.Shape{Alternating: true}
		none   = refusal.Shape{NoSystem: true}
		first  = refusal.Shape{SystemFirst: true}
		single = refusal.Shape{SingleCalls: true}
		filled = refusal.Shape{EmptyContent: true}
		strict = refusal.Shape{Alternating: true, SystemFirst: true, SingleCalls: true, EmptyContent: true}
	)
	for _, c := range []struct {
		want refusal.Shape
		text string
	}{
		{turns, "After the optional system message, conversation roles must alternate user/assistant/user/assistant/..."},
		{turns, `got exception: raise_exception("Conversation roles must alternate user and assistant roles except")`},
		{turns, "Unexpected role 'user' after role 'tool'"},
		{none, "System role not supported"},
		{none, "Developer instruction is not enabled for models/gemma-3"},
		{first, "System message must be at the beginning."},
		{first, "Unexpected role 'system' after role 'user'"},
		{single, "This model only supports single tool-calls at once!"},
		{filled, "Input should be a valid string: messages.2.content"},
		{filled, "messages[1].content must be a string"},
		{strict, "Jinja Exception: something else"},
	} {
		for _, status := range []int{400, 500} {
			d, change := learned(refusal.Refusal{Status: status, Text: c.text}, true)
			require.Equal(t, c.want, d.Shape, c.text)
			require.True(t, change.Quiet, "the request says the same")
		}
	}
}

// TestShapesAreLearnedOneAfterTheOther has a template that demands one more thing after each change.
func TestShapesAreLearnedOneAfterTheOther(t *testing.T) {
	var book refusal.Book
	for i, text := range []string{"content must be a string, not null", "roles must alternate", "single tool-calls only",
		"System message must be at the beginning"} {
		q := request(true)
		q.NullContent = i == 0
		require.NotEmpty(t, book.Learn(prompt(), &refusal.Refusal{Status: 400, Text: text}, q).Notice, text)
	}
	strict := refusal.Shape{Alternating: true, SystemFirst: true, SingleCalls: true, EmptyContent: true}
	require.Equal(t, strict, book.Of("m").Shape)
}

func TestRawReasoningIsLeftOut(t *testing.T) {
	for _, text := range []string{"Item 'rs_1' of type 'reasoning' was provided without its required following item.",
		"input.0: reasoning without encrypted_content is not supported"} {
		var book refusal.Book
		q := request(false)
		q.RawReasoning = true
		require.True(t, book.Learn(prompt(), &refusal.Refusal{Status: 400, Text: text}, q).Quiet)
		require.True(t, book.Of("m").NoRaw, text)
	}
}

func TestTypesOfToolsAreRefused(t *testing.T) {
	d, _ := learned(refusal.Refusal{Status: 400, Text: "web_search is not available for this model"}, false)
	require.True(t, d.Offline)
	require.Nil(t, d.Prompt(prompt()).WebSearch)
	d, _ = learned(refusal.Refusal{Status: 400, Text: "Invalid value: 'custom'. Supported values are: 'function'"}, false)
	require.True(t, d.Plain)
}

func TestEncryptedContentIsOfTheThread(t *testing.T) {
	for _, r := range []refusal.Refusal{
		{Status: 400, Text: "The encrypted content gAAA... could not be verified.", Words: []string{"invalid_encrypted_content"}},
		{Status: 400, Text: "The encrypted content for item rs_1 could not be verified. Reason: organization_id did not match"},
		{Status: 400, Text: "Item 'rs_1' of type 'reasoning' was provided without its required following item."},
		{Status: 400, Text: "Could not decrypt the provided encrypted_content"},
		{Status: 500, Text: "failed to decode encrypted content"},
	} {
		require.True(t, r.OfEncrypted(), r.Text)
	}
	for _, r := range []refusal.Refusal{
		{Status: 400, Text: "Unknown parameter: 'include'"}, {Status: 401, Text: "The encrypted content could not be verified"},
		{Status: 400, Text: "reasoning is not supported"},
	} {
		require.False(t, r.OfEncrypted(), r.Text)
	}
}

func TestWhatOneModelRefusesAnotherGets(t *testing.T) {
	var book refusal.Book
	book.Learn(prompt(), &refusal.Refusal{Status: 400, Text: "Unknown parameter: 'prompt_cache_key'"}, request(true))
	require.NotEmpty(t, book.Of("m").Omitted)
	require.Empty(t, book.Of("other").Omitted)
}

// FuzzLearn expects that each refusal is learned from a few times at most.
func FuzzLearn(f *testing.F) {
	f.Add(400, "Unknown parameter: 'include'", "include")
	f.Add(500, "raise_exception content image thinking tools[1] schema", "")
	f.Fuzz(func(t *testing.T, status int, text, param string) {
		var book refusal.Book
		for _, chat := range []bool{true, false} {
			r := &refusal.Refusal{Status: status, Text: text, Param: param}
			for n := 0; book.Learn(prompt(), r, request(chat)).Notice != ""; n++ {
				require.Less(t, n, 30)
				book.Of("m").Prompt(prompt())
			}
		}
	})
}
