package contextedit

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/gdamore/tcell/v3"
	"github.com/gdamore/tcell/v3/color"
)

// Run edits the context of a thread on the terminal of the process until the user quits.
func Run(t Thread) error {
	// A locale with an unknown character set gets ASCII.
	tcell.SetEncodingFallback(tcell.EncodingFallbackASCII)
	screen, err := newScreen(os.Getenv("TERM"))
	if err != nil {
		return fmt.Errorf("opening the terminal: %w", err)
	}
	if err := screen.Init(); err != nil {
		return fmt.Errorf("opening the terminal: %w", err)
	}
	defer screen.Fini()
	screen.EnablePaste()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	columns, rows := screen.Size()
	model, command := New(Size{columns, rows})
	model.hasEditor = len(editorOf(os.Getenv)) > 0
	l := loop{screen: screen, thread: t, model: model, signals: signals, results: make(chan Message, 1)}
	l.start(command)
	err = l.run()
	screen.Fini()
	return errors.Join(err, l.finish())
}

// newScreen returns the screen of the process. Without negotiation the library asks the terminal nothing
// and expects no answer. A process without a controlling terminal uses its standard streams.
func newScreen(term string) (tcell.Screen, error) {
	tty, err := tcell.NewDevTty()
	if err != nil {
		if tty, err = tcell.NewStdIoTty(); err != nil {
			return nil, err
		}
	}
	list := []tcell.TerminfoScreenOption{tcell.OptNegotiation(false), tcell.OptSanitizeContent(true)}
	if term == "" || term == "dumb" {
		list = append(list, tcell.OptColors(0))
	}
	return tcell.NewTerminfoScreenFromTty(tty, list...)
}

// loop connects the model to a screen and a thread.
type loop struct {
	screen  tcell.Screen
	thread  Thread
	model   *Model
	signals <-chan os.Signal
	results chan Message
	running bool
	// paste has the text of a paste that has not ended, or is nil.
	paste *strings.Builder
}

// start runs a command, unless it is nil.
func (l *loop) start(c Command) {
	if c == nil {
		return
	}
	l.running = true
	go func() { l.results <- c(l.thread) }()
}

// run shows the model until it is done. It draws after all waiting events.
func (l *loop) run() error {
	for {
		if done, err := l.model.Done(); done {
			return err
		}
		if text, ok := l.model.Editing(); ok {
			l.start(l.model.Update(l.editText(text)))
			continue
		}
		if len(l.screen.EventQ()) == 0 {
			l.draw()
		}
		select {
		case event := <-l.screen.EventQ():
			if err := l.takeEvent(event); err != nil {
				return err
			}
		case result := <-l.results:
			l.running = false
			l.start(l.model.Update(result))
		case s := <-l.signals:
			if l.model.HasPlan() {
				return fmt.Errorf("ended by signal: %s: the plan is lost", s)
			}
			return fmt.Errorf("ended by signal: %s", s)
		}
	}
}

// finish waits for the running command. A signal, such as that of Ctrl+C, ends the wait: a server that has
// the thread open may not answer.
func (l *loop) finish() error {
	if !l.running {
		return nil
	}
	select {
	case <-l.results:
		return nil
	case s := <-l.signals:
		return fmt.Errorf("ended by signal: %s: an edit may have been made", s)
	}
}

// takeEvent applies an event of the terminal.
func (l *loop) takeEvent(event tcell.Event) error {
	switch e := event.(type) {
	case *tcell.EventKey:
		switch key := keyOf(e); {
		case l.paste != nil:
			l.paste.WriteString(e.Str())
		case key != "":
			// A slow connection joins Esc and the next key to one with Alt.
			if e.Modifiers()&tcell.ModAlt != 0 {
				l.start(l.model.Update(Key("Esc")))
			}
			l.start(l.model.Update(key))
		}
	case *tcell.EventPaste:
		if e.Start() {
			l.paste = &strings.Builder{}
		} else if l.paste != nil {
			l.start(l.model.Update(Paste(l.paste.String())))
			l.paste = nil
		}
	case *tcell.EventResize:
		columns, rows := e.Size()
		l.screen.Sync()
		l.start(l.model.Update(Size{columns, rows}))
	case *tcell.EventError:
		return fmt.Errorf("reading the terminal: %w", e)
	case nil:
		return errors.New("the terminal is closed")
	}
	return nil
}

// keyNames are the names of keys for the model.
var keyNames = map[tcell.Key]Key{
	tcell.KeyUp: "Up", tcell.KeyDown: "Down", tcell.KeyLeft: "Left", tcell.KeyRight: "Right",
	tcell.KeyPgUp: "PgUp", tcell.KeyPgDn: "PgDn", tcell.KeyHome: "Home", tcell.KeyEnd: "End",
	tcell.KeyEnter: "Enter", tcell.KeyEsc: "Esc", tcell.KeyTab: "Tab",
	tcell.KeyDelete: "Delete", tcell.KeyBackspace: "Backspace",
}

// keyOf returns the key of an event, or "" for keys without a meaning.
func keyOf(e *tcell.EventKey) Key {
	switch {
	case e.Key() == tcell.KeyRune && e.Modifiers()&tcell.ModCtrl != 0:
		return Key("Ctrl+" + strings.ToUpper(e.Str()))
	case e.Key() == tcell.KeyRune:
		return Key(e.Str())
	case keyNames[e.Key()] != "":
		if name := keyNames[e.Key()]; e.Modifiers()&tcell.ModShift == 0 || name != "Up" && name != "Down" {
			return name
		}
		return "Shift+" + keyNames[e.Key()]
	case e.Key() >= tcell.KeyCtrlA && e.Key() <= tcell.KeyCtrlZ:
		return Key("Ctrl+" + string(rune('A'+e.Key()-tcell.KeyCtrlA)))
	}
	return ""
}

// draw writes the view into the cells of the screen. The library sends the changed cells to the terminal.
func (l *loop) draw() {
	l.screen.Clear()
	for y, line := range l.model.View() {
		x := 0
		for _, span := range line {
			l.drawSpan(x, y, span)
			x += span.Width
		}
	}
	l.screen.Show()
}

// drawSpan fills the cells of a span.
func (l *loop) drawSpan(x, y int, span Span) {
	style, end, text := styleOf(span.Style), x+span.Width, span.Text
	for x < end && text != "" {
		rest, width := l.screen.Put(x, y, text, style)
		if width == 0 || x+width > end {
			break // a wide character does not fit
		}
		x, text = x+width, rest
	}
	for ; x < end; x++ {
		l.screen.Put(x, y, " ", style)
	}
}

func styleOf(s Style) tcell.Style {
	style := tcell.StyleDefault.Bold(s&Bold != 0).Dim(s&Dim != 0).Reverse(s&Reverse != 0)
	switch {
	case s&Danger != 0:
		return style.Foreground(color.Maroon)
	case s&Changed != 0:
		return style.Foreground(color.Olive)
	}
	return style
}
