// Command server is an MCP server for tests, with all the ways to be a bad one.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	slow := flag.Duration("slow", 0, "wait before serving")
	garbage := flag.Bool("garbage", false, "write lines to standard output that are no messages")
	fail := flag.Bool("fail", false, "complain and exit")
	never := flag.Bool("never", false, "answer nothing")
	address := flag.Bool("http", false, "serve HTTP, and print the address")
	token := flag.String("token", "", "the bearer token that is wanted")
	once := flag.String("once", "", "fail where this file exists, which is made")
	tries := flag.String("tries", "", "a file that gets a byte for each start")
	raw := flag.String("raw", "", "a file with the result of tools/list")
	flag.Parse()
	if *tries != "" {
		f, err := os.OpenFile(*tries, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			panic(err)
		}
		_, _ = f.WriteString(".")
		f.Close()
	}
	if *fail {
		fmt.Fprintln(os.Stderr, "no database")
		os.Exit(3)
	}
	if *once != "" {
		f, err := os.OpenFile(*once, os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			f.Close()
			os.Exit(4)
		}
	}
	if *never {
		fmt.Fprintln(os.Stderr, "listening, but not talking")
		_, _ = io.Copy(io.Discard, os.Stdin) // select {} would end the process as a deadlock
		return
	}
	time.Sleep(*slow)
	if *garbage {
		fmt.Println("Welcome to the server!")
		fmt.Println(`{"level":"info","msg":"started"}`)
		fmt.Fprintln(os.Stderr, strings.Repeat("long ", 10_000))
	}
	if *raw != "" {
		serveRaw(*raw)
		return
	}
	if *address {
		serveHTTP(*token)
		return
	}
	if err := server().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serveHTTP(token string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println("http://" + l.Addr().String())
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server() }, nil)
	_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if token != "" && r.Header.Get("Authorization") != "Bearer "+token {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
}

func text(s string) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}, nil
}

func server() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1.2.3", Title: "A test"}, nil)
	no, yes := false, true
	reading := &mcp.ToolAnnotations{ReadOnlyHint: true}
	add := func(name string, hints *mcp.ToolAnnotations, do mcp.ToolHandler) {
		s.AddTool(&mcp.Tool{Name: name, Description: "Does " + name + ".", Annotations: hints, InputSchema: map[string]any{"type": "object"}}, do)
	}
	add("echo", reading, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text("echo " + string(r.Params.Arguments))
	})
	add("write", nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return text("written") })
	add("wipe.out", &mcp.ToolAnnotations{DestructiveHint: &yes}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return text("wiped") })
	add("append", &mcp.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &no}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text("appended")
	})
	add("mixed", reading, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.TextContent{Text: "words"}, &mcp.ImageContent{Data: []byte("png"), MIMEType: "image/png"},
			&mcp.ResourceLink{URI: "mem://a", Name: "a"},
		}}, nil
	})
	add("structured", reading, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "words"}}, StructuredContent: map[string]any{"n": 1}}, nil
	})
	add("fail", reading, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "it does not work"}}}, nil
	})
	add("refuse", reading, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, fmt.Errorf("refused")
	})
	add("crash", reading, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "out of cheese")
		os.Exit(7)
		return nil, nil
	})
	add("crash-once", reading, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if f, err := os.OpenFile("crashed", os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			f.Close()
			os.Exit(7)
		}
		return text("survived")
	})
	add("wreck", nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		f, err := os.OpenFile("wrecked", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, err
		}
		_, _ = f.WriteString("x")
		os.Exit(7)
		return nil, nil
	})
	add("leave", reading, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		time.AfterFunc(20*time.Millisecond, func() { os.Exit(0) })
		return text("bye")
	})
	add("hang", reading, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		select {}
	})
	add("huge", reading, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var a struct{ Bytes int }
		_ = json.Unmarshal(r.Params.Arguments, &a)
		return text(strings.Repeat("x", a.Bytes))
	})
	add("progress", reading, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range 3 {
			time.Sleep(20 * time.Millisecond)
			p := &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i + 1), Total: 3}
			if i == 0 {
				p.Message = "looking"
			}
			_ = r.Session.NotifyProgress(ctx, p)
		}
		return text("there")
	})
	add("ask", reading, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		got, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Your name?", RequestedSchema: map[string]any{
			"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}, "required": []any{"name"}}})
		if err != nil {
			return nil, err
		}
		return text(fmt.Sprintf("%s %v", got.Action, got.Content["name"]))
	})
	add("nag", reading, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for {
			if _, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Still there?"}); err != nil {
				return nil, err
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
	add("environment", reading, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		dir, _ := os.Getwd()
		return text(strings.Join(append(os.Environ(), "cwd="+dir), "\n"))
	})
	add("child", reading, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		c := exec.Command("setsid", "sleep", "1000")
		if err := c.Start(); err != nil {
			return nil, err
		}
		return text(fmt.Sprint(c.Process.Pid))
	})
	add("scribble", reading, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if err := os.WriteFile("scribbled.txt", []byte("by the server\n"), 0o600); err != nil {
			return nil, err
		}
		return text("scribbled")
	})
	add("grow", reading, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		add("grown", reading, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return text("new") })
		return text("there is another tool")
	})
	s.AddResource(&mcp.Resource{URI: "mem://a", Name: "a"}, func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, MIMEType: "text/plain", Text: "content of a"}}}, nil
	})
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "mem://{name}", Name: "any"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return nil, fmt.Errorf("no such thing")
	})
	return s
}
