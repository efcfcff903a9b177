package listing_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout/listing"
)

const (
	metaOfA = `{"type":"session_meta","payload":{"id":"` + threadA + `","timestamp":"2026-01-02T01:02:03.500Z",` +
		`"cwd":"/w","source":"cli","model_provider":"p","base_instructions":{"text":"be brief"}}}` + "\n"
	contextLine = `{"type":"turn_context","payload":{"cwd":"/w","approval_policy":"never",` +
		`"sandbox_policy":{"type":"read-only"},"model":"m","summary":"auto"}}` + "\n"
)

func itemLine(role, text string) string {
	return `{"type":"response_item","payload":{"type":"message","role":"` + role +
		`","content":[{"type":"input_text","text":"` + text + `"}]}}` + "\n"
}

// headOf returns the head of thread A, and whether lists show it.
func headOf(t *testing.T, content string) (listing.Head, bool) {
	t.Helper()
	store, mem := memStore()
	path := put(t, mem, store.PathFor(threadA, begin), content)
	head, err := store.ReadHead(path)
	require.NoError(t, err)
	require.Equal(t, path, head.Path)
	page, err := store.List(listing.Query{})
	require.NoError(t, err)
	if len(page.Heads) > 0 {
		require.Equal(t, []listing.Head{head}, page.Heads)
	}
	return head, len(page.Heads) > 0
}

func TestHead(t *testing.T) {
	head, listed := headOf(t, metaOfA+contextLine+strings.Replace(contextLine, `"m"`, `"later"`, 1)+userLine("hello"))
	require.True(t, listed)
	require.Equal(t, threadA, head.ID)
	require.Equal(t, "p", head.Meta.ModelProvider)
	require.Equal(t, "be brief", head.Meta.BaseInstructions.Text)
	require.Equal(t, "later", head.Context.Model)
	require.Equal(t, "hello", head.Preview)
	require.Equal(t, time.Date(2026, 1, 2, 1, 2, 3, 5e8, time.UTC), head.CreatedAt)
	require.False(t, head.UpdatedAt.IsZero())
}

func TestPreviewIsTheFirstUserMessage(t *testing.T) {
	completed := `{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","content":[` +
		`{"type":"text","text":"a\n"},{"type":"image","url":"x"},{"type":"text","text":"b"}]}}}` + "\n"
	for name, c := range map[string]struct{ lines, want string }{
		"event":                  {userLine("hello") + userLine("later"), "hello"},
		"item of the newer form": {completed, "a\nb"},
		"only a response item":   {itemLine("user", "hi"), "hi"},
		"event after an item":    {itemLine("user", "<new_context>...") + userLine("hello"), "hello"},
		"environment context": {
			itemLine("user", "<environment_context>\\n</environment_context>") + itemLine("user", "hi"), "hi",
		},
		"reminder": {
			itemLine("user", "[memory:summary v1 | repo=/x | ts=2026-01-01T00:00:00Z]\\n- x") + itemLine("user", "hi"),
			"hi",
		},
		"instructions": {
			itemLine("user", " <user_instructions>x") + itemLine("user", "# AGENTS.md instructions") +
				itemLine("user", "hi"),
			"hi",
		},
		"abort":        {itemLine("user", "<turn_aborted>") + itemLine("user", "hi"), "hi"},
		"other roles":  {itemLine("developer", "do") + itemLine("assistant", "done") + userLine("hello"), "hello"},
		"image only":   {userLine(""), ""},
		"after damage": {"?\n" + userLine("hello"), "hello"},
		"without LF":   {strings.TrimSuffix(userLine("hello"), "\n"), "hello"},
	} {
		t.Run(name, func(t *testing.T) {
			head, listed := headOf(t, metaOfA+c.lines)
			require.True(t, listed)
			require.Equal(t, c.want, head.Preview)
		})
	}
}

func TestALostFirstLineIsReplacedByTheName(t *testing.T) {
	head, listed := headOf(t, "\x00garbage\n"+contextLine+userLine("hello"))
	require.True(t, listed)
	require.Equal(t, threadA, head.ID)
	require.Equal(t, protocol.SessionMeta{ID: threadA, Cwd: "/w"}, head.Meta)
	require.Equal(t, "m", head.Context.Model)
	require.Equal(t, begin.Unix(), head.CreatedAt.Unix(), "from the file's name")
}

func TestAMissingFirstLineIsReplacedByTheName(t *testing.T) {
	head, listed := headOf(t, contextLine+userLine("hello"))
	require.True(t, listed)
	require.Equal(t, protocol.SessionMeta{ID: threadA, Cwd: "/w"}, head.Meta)
}

func TestAFileWithoutAUserMessageIsNotListed(t *testing.T) {
	for name, content := range map[string]string{
		"no user message":     metaOfA + contextLine + itemLine("user", "<environment_context>"),
		"empty":               "",
		"message is torn":     metaOfA + userLine("hello")[:80],
		"message is too late": metaOfA + strings.Repeat(contextLine, 1<<20/len(contextLine)) + userLine("hello"),
		"too late, long lines": metaOfA +
			strings.Repeat(itemLine("developer", strings.Repeat("x", 100<<10)), 17) + userLine("hello"),
	} {
		t.Run(name, func(t *testing.T) {
			head, listed := headOf(t, content)
			require.False(t, listed)
			require.Equal(t, threadA, head.ID, "but it can be read")
		})
	}
}

func TestHeadGrowsUpToTheUserMessage(t *testing.T) {
	for _, kib := range []int{10, 64, 100, 300, 900} {
		head, listed := headOf(t, metaOfA+itemLine("developer", strings.Repeat("x", kib<<10))+userLine("hello")+contextLine)
		require.True(t, listed, "%d KiB", kib)
		require.Equal(t, "hello", head.Preview)
	}
}

// TestPreviewOfLongMessages has images, and long instructions before the user's message.
func TestPreviewOfLongMessages(t *testing.T) {
	for _, size := range []int{1<<20 - 1000, 1 << 20, 3 << 20, 12 << 20} {
		image := `{"type":"response_item","payload":{"type":"message","role":"user","content":[` +
			`{"type":"input_text","text":"look"},{"type":"input_image","image_url":"` +
			strings.Repeat("A", size) + `"}]}}` + "\n"
		for name, lines := range map[string]string{
			"image":             metaOfA + contextLine + image + userLine("look"),
			"image, and no LF":  metaOfA + strings.TrimSuffix(image, "\n"),
			"long instructions": metaOfA + itemLine("developer", strings.Repeat("x", size)) + userLine("look"),
			"long first line":   strings.Replace(metaOfA, "be brief", strings.Repeat("x", size), 1) + userLine("look"),
		} {
			head, listed := headOf(t, lines)
			require.True(t, listed, "%s: %d bytes", name, size)
			require.Equal(t, "look", head.Preview)
			require.Equal(t, "/w", head.Meta.Cwd)
		}
		head, listed := headOf(t, metaOfA+userLine(strings.Repeat("é", size/2)))
		require.True(t, listed, "%d bytes", size)
		require.Equal(t, strings.Repeat("é", min(size/2, 1<<19)), head.Preview)
	}
}

func TestHeadSurvivesWrongTypes(t *testing.T) {
	head, listed := headOf(t, `{"type":"session_meta","payload":{"id":7,"cwd":"/w","git":3}}`+"\n"+
		`{"type":"turn_context","payload":{"approval_policy":9}}`+"\n"+
		`{"type":"event_msg","payload":"user_message"}`+"\n"+
		`{"type":"response_item","payload":[{"type":"message","role":"user"}]}`+"\n"+userLine("hello"))
	require.True(t, listed)
	require.Equal(t, "/w", head.Meta.Cwd)
	require.Equal(t, threadA, head.Meta.ID)
	require.Nil(t, head.Context)
}

func TestHeadOfAFileWithAnotherName(t *testing.T) {
	store, mem := memStore()
	head, err := store.ReadHead(put(t, mem, dir+"/export.jsonl", metaOfA+userLine("hello")))
	require.NoError(t, err)
	require.Equal(t, threadA, head.ID, "from session_meta")
}
