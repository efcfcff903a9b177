package protocol

import (
	"encoding/json"

	"github.com/tidwall/gjson"
)

// UserInput is one part of what the user says.
type UserInput struct{ UserInputVariant }

// UserInputVariant is TextInput, ImageInput, LocalImageInput, AudioInput,
// LocalAudioInput, SkillInput or MentionInput.
type UserInputVariant interface{ userInput() }

// TextInput is text, with the ranges that the client shows in another way.
type TextInput struct {
	Text         string            `json:"text"`
	TextElements []json.RawMessage `json:"text_elements"`
}

// ImageInput is an image by URL; data: URLs carry the image itself.
type ImageInput struct {
	Detail *string `json:"detail,omitempty"`
	URL    string  `json:"url"`
}

// LocalImageInput is an image file of the server's machine.
type LocalImageInput struct {
	Detail *string `json:"detail,omitempty"`
	Path   string  `json:"path"`
}

// AudioInput is sound by URL.
type AudioInput struct {
	URL string `json:"url"`
}

// LocalAudioInput is a sound file of the server's machine.
type LocalAudioInput struct {
	Path string `json:"path"`
}

// SkillInput names a skill to use.
type SkillInput struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

// MentionInput names a file or a resource.
type MentionInput struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

func (*TextInput) userInput()       {}
func (*ImageInput) userInput()      {}
func (*LocalImageInput) userInput() {}
func (*AudioInput) userInput()      {}
func (*LocalAudioInput) userInput() {}
func (*SkillInput) userInput()      {}
func (*MentionInput) userInput()    {}

var userInputs = newVariants[UserInputVariant]("type",
	variantRow[UserInputVariant]{"text", func() UserInputVariant { return &TextInput{TextElements: []json.RawMessage{}} }},
	variantRow[UserInputVariant]{"image", func() UserInputVariant { return &ImageInput{} }},
	variantRow[UserInputVariant]{"localImage", func() UserInputVariant { return &LocalImageInput{} }},
	variantRow[UserInputVariant]{"audio", func() UserInputVariant { return &AudioInput{} }},
	variantRow[UserInputVariant]{"localAudio", func() UserInputVariant { return &LocalAudioInput{} }},
	variantRow[UserInputVariant]{"skill", func() UserInputVariant { return &SkillInput{} }},
	variantRow[UserInputVariant]{"mention", func() UserInputVariant { return &MentionInput{} }},
)

// MarshalJSON writes the variant with its type.
func (u UserInput) MarshalJSON() ([]byte, error) { return userInputs.encode(u.UserInputVariant) }

// UnmarshalJSON accepts the known variants, and requires the member that each of
// them is about.
func (u *UserInput) UnmarshalJSON(b []byte) error {
	v, tag, ok, err := userInputs.decode(b)
	if err != nil {
		return err
	}
	if !ok {
		return &UnknownVariantError{tag, userInputs.tags}
	}
	u.UserInputVariant = v
	return requireMembers(b, v)
}

func requireMembers(b []byte, v UserInputVariant) error {
	member := "path"
	switch v := v.(type) {
	case *TextInput:
		member = "text"
		if v.TextElements == nil {
			v.TextElements = []json.RawMessage{}
		}
	case *ImageInput, *AudioInput:
		member = "url"
	}
	if !gjson.GetBytes(b, member).Exists() {
		return &MissingFieldError{member}
	}
	return nil
}
