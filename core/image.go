package core

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"appserver/protocol"
)

var imageTool = ToolSpec{
	Name:        "view_image",
	Description: "Shows you an image file of the user's machine: PNG, JPEG, GIF or WebP.",
	Parameters: json.RawMessage(`{"type":"object","properties":{` +
		`"path":{"type":"string","description":"The file; a relative path begins at the working directory."}},` +
		`"required":["path"],"additionalProperties":false}`),
}

// ReadImage reads an image file. Confined is set where the sandbox policy says which
// files there are.
type ReadImage struct {
	ID       EffectID
	TurnID   string
	Path     string
	Confined bool
}

func (ReadImage) effect() {}

// ImageRead ends a ReadImage: with the image as a data: URL, or with why there is none.
type ImageRead struct {
	Effect EffectID
	URL    string
	Err    error
}

func (in ImageRead) apply(s *step) { s.imageRead(in) }

func (s *step) beginView(c *toolCall) {
	var a struct {
		Path string `json:"path"`
	}
	err := protocol.Unmarshal([]byte(c.call.Arguments), &a)
	switch {
	case err != nil:
		s.answer(c, fmt.Sprintf("The arguments of %s could not be read: %v", c.call.Name, err))
		return
	case a.Path == "":
		s.answer(c, fmt.Sprintf("The arguments of %s could not be read: path is missing", c.call.Name))
		return
	}
	c.image = a.Path
	if !filepath.IsAbs(c.image) {
		c.image = filepath.Join(s.settings.Cwd, c.image)
	}
	c.state, c.effect = callRunning, s.newEffect()
	s.active.commands = append(s.active.commands, c.effect)
	s.effect(ReadImage{ID: c.effect, TurnID: s.active.id, Path: c.image, Confined: !unconfined(s.settings.Sandbox)})
}

func (s *step) imageRead(in ImageRead) {
	c := s.running(in.Effect)
	if c == nil || !ended(&s.active.commands, in.Effect) {
		return
	}
	switch {
	case s.active.outcome != nil:
		s.answer(c, abortedOutputText)
		s.finishWhenDone()
		return
	case in.Err != nil:
		s.answer(c, fmt.Sprintf("The image %s cannot be shown: %v", c.image, in.Err))
	default:
		s.showImage(c, in.URL)
	}
	s.advance()
}

// showImage puts the image into the history as the output of its call, so that it shares
// what becomes of that.
func (s *step) showImage(c *toolCall, url string) {
	c.item = s.openItem(&protocol.ImageViewItem{ID: c.call.ID, Path: c.image}, s.Now)
	s.started(c.item)
	s.completed(c.item, nil)
	s.answerWith(c, protocol.ToolOutput{Parts: []protocol.ContentItem{{Type: protocol.ContentInputImage, ImageURL: url, Detail: "high"}}})
}
