package protocol

import (
	"bytes"

	"github.com/tidwall/gjson"
)

// UserInput is one part of the user's input, with a tag: {"type": "text", "text": ...} and so on.
// Params accept complete variants only. Elsewhere, in items of files and of other versions, any
// other part is an *Unknown.
type UserInput struct{ UserInputVariant }

// UserInputVariant is *TextInput, *ImageInput, *LocalImageInput, *AudioInput,
// *LocalAudioInput, *SkillInput, *MentionInput or *Unknown.
type UserInputVariant interface{ userInput() }

// TextInput is text.
type TextInput struct {
	Text string `json:"text"`
	// TextElements are ranges of the text that the client shows in another way.
	TextElements []TextElement `json:"text_elements" default:"[]"`
}

// TextElement is a range of a text, such as a mention.
type TextElement struct {
	ByteRange ByteRange `json:"byteRange"`
	// Placeholder is the text that the client shows instead of the range, or null.
	Placeholder *string `json:"placeholder" default:"null"`
}

// ByteRange is a range of a text in bytes of UTF-8. The end is exclusive.
type ByteRange struct {
	Start uint64 `json:"start"`
	End   uint64 `json:"end"`
}

// ImageInput is an image by URL; a data: URL carries the image itself.
type ImageInput struct {
	Detail *string `json:"detail" default:"null" oneof:"auto low high original"`
	URL    string  `json:"url"`
}

// LocalImageInput is an image file of the server's machine.
type LocalImageInput struct {
	Detail *string `json:"detail" default:"null" oneof:"auto low high original"`
	Path   string  `json:"path"`
}

// AudioInput is sound by URL; a data: URL carries the sound itself.
type AudioInput struct {
	URL string `json:"url"`
}

// LocalAudioInput is a sound file of the server's machine.
type LocalAudioInput struct {
	Path string `json:"path"`
}

// SkillInput selects a skill by its name and its file.
type SkillInput struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

// MentionInput refers to a file or a resource.
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
func (*Unknown) userInput()         {}

var userInputs = newVariants("type",
	variantRow[UserInputVariant]{"text", &TextInput{}},
	variantRow[UserInputVariant]{"image", &ImageInput{}},
	variantRow[UserInputVariant]{"localImage", &LocalImageInput{}},
	variantRow[UserInputVariant]{"audio", &AudioInput{}},
	variantRow[UserInputVariant]{"localAudio", &LocalAudioInput{}},
	variantRow[UserInputVariant]{"skill", &SkillInput{}},
	variantRow[UserInputVariant]{"mention", &MentionInput{}},
)

// MarshalJSON writes the variant with its type.
func (u UserInput) MarshalJSON() ([]byte, error) { return userInputs.encode(u.UserInputVariant) }

// UnmarshalJSON decodes a complete known variant. It keeps any other object with a type as
// *Unknown.
func (u *UserInput) UnmarshalJSON(b []byte) error {
	in := gjson.ParseBytes(b)
	err := u.decodeParams(in)
	if tag := in.Get(userInputs.member); err != nil && tag.Type == gjson.String {
		u.UserInputVariant = &Unknown{tag.Str, bytes.Clone(b)}
		return nil
	}
	return err
}

// decodeParams accepts the complete forms of the known variants only.
func (u *UserInput) decodeParams(in gjson.Result) error {
	v, err := userInputs.strict(in)
	u.UserInputVariant = v
	return err
}
