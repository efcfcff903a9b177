package cli

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"appserver/cmd/appserver/internal/app"
	"appserver/cmd/appserver/internal/cmdline"
	"appserver/cmd/appserver/internal/termtext"
	"appserver/protocol"
)

// defaultListed is the number of threads that thread list prints by default.
const defaultListed = 50

// listCall is a running thread list command.
type listCall struct {
	threadCall
	agents, archived, json bool
	limit                  int
}

func (c commands) threadList(flags *flag.FlagSet) cmdline.Run {
	call := &listCall{threadCall: threadCall{Options: c.options, Streams: c.Streams}}
	c.options.DefineShared(flags)
	flags.BoolVar(&call.agents, "agents", false, "list the agents of each thread below it")
	flags.BoolVar(&call.archived, "archived", false, "list the archived threads instead")
	flags.BoolVar(&call.json, "json", false, "print the threads as JSON")
	flags.IntVar(&call.limit, "limit", defaultListed, "list at most `N` threads, their agents apart; 0 lists all")
	return func([]string) error {
		if call.limit < 0 {
			return app.UsageError{Err: fmt.Errorf("--limit %d: expected a number of threads", call.limit)}
		}
		return call.run("list", call.list, "")
	}
}

// listedThread is a thread of the list. Depth is 0, or the number of ancestors of an agent.
type listedThread struct {
	protocol.Thread
	Depth int `json:"depth"`
}

func (c *listCall) list(string) error {
	threads, more, err := c.threads(ownSources(), c.limit)
	if err != nil {
		return err
	}
	var agents []protocol.Thread
	if c.agents {
		if agents, _, err = c.threads(&[]string{"subAgentThreadSpawn"}, 0); err != nil {
			return err
		}
	}
	listed := []listedThread{}
	for _, t := range threads {
		listed = appendTeam(listed, t, 0, agents)
	}
	if c.json {
		return writeJSON(c.Out, listed)
	}
	return c.print(listed, more)
}

// threads returns the threads with some sources, the newest first, and whether there are more than the limit.
func (c *listCall) threads(sources *[]string, limit int) (all []protocol.Thread, more bool, err error) {
	page, updated := uint32(100), "updated_at"
	p := protocol.ThreadListParams{Limit: &page, SortKey: &updated, Archived: &c.archived, ModelProviders: &[]string{},
		SourceKinds: sources}
	for {
		r, err := app.Call[protocol.ThreadListResponse](c.client, "thread/list", p)
		if err != nil {
			return nil, false, err
		}
		all = append(all, r.Data...)
		if limit > 0 && len(all) > limit {
			return all[:limit], true, nil
		}
		if p.Cursor = r.NextCursor; p.Cursor == nil {
			return all, false, nil
		}
	}
}

// appendTeam appends a thread, and behind it its agents with theirs, the oldest first.
func appendTeam(list []listedThread, t protocol.Thread, depth int, agents []protocol.Thread) []listedThread {
	list = append(list, listedThread{t, depth})
	var own []protocol.Thread
	rest := slices.DeleteFunc(slices.Clone(agents), func(a protocol.Thread) bool {
		isOwn := a.ParentThreadID != nil && *a.ParentThreadID == t.ID
		if isOwn && a.ID != t.ID {
			own = append(own, a)
		}
		return isOwn
	})
	slices.SortFunc(own, func(a, b protocol.Thread) int {
		return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	for _, a := range own {
		list = appendTeam(list, a, depth+1, rest)
	}
	return list
}

func (c *listCall) print(listed []listedThread, more bool) error {
	if len(listed) == 0 {
		_, err := fmt.Fprintln(c.Out, "There are no threads.")
		return err
	}
	t := table{right: map[int]bool{1: true}}
	t.add("THREAD", "AGE", "FOLDER", "TITLE")
	for _, one := range listed {
		t.add(one.ID, age(time.Since(time.Unix(one.UpdatedAt, 0))), one.Cwd, one.title())
	}
	var out bytes.Buffer
	t.write(&out, widthOf(c.Streams.Out))
	if more {
		fmt.Fprintf(&out, "\nThere are more threads: --limit N lists more, --limit 0 all.\n")
	}
	_, err := c.Out.Write(out.Bytes())
	return err
}

// title returns the name or the first message of a thread. That of an agent is indented, and begins with its name.
func (t *listedThread) title() string {
	title := t.Preview
	if t.Name != nil {
		title = *t.Name
	}
	title = termtext.FirstColumns(termtext.Plain(title), 80)
	if t.Depth == 0 {
		return title
	}
	name := "agent"
	if t.AgentNickname != nil {
		name = *t.AgentNickname
	}
	return strings.Repeat("  ", t.Depth) + "└ " + name + ": " + title
}
