package refusal

import (
	"hash/fnv"

	"appserver/core"
	"appserver/platform/pattern"
	"appserver/protocol"
)

// imageRefusals are refusals about images. textOnly are those of models that take no image, in the words of
// OpenAI, DeepSeek, vLLM, llama.cpp, OpenRouter, GLM, Groq, Mistral and Ollama. textContent matches those that name no
// image: the content must be a text, and the only other content is images.
var (
	aboutImages = pattern.New(`(?i)image|\bvision\b|multi-?modal|mmproj|picture|图`)
	textOnly    = pattern.AnyOf(
		`(image|\bvision\b|multi-?modal)\w*( \w+){0,3} (is|are) not (supported|enabled|allowed|available|permitted)`,
		`(not|n't|no)( \w+){0,4} (support|accept|allow|take|handle|process|have|enable|view|see)\w*( \w+){0,4} (image|\bvision\b|multi-?modal|picture)`,
		`(image|\bvision\b|multi-?modal)\w*( \w+){0,3} (not|un)[ -]?support`,
		`not a (multi-?modal|vision)`, `text[- ]only`, `mmproj`, `at most 0 image`,
		`only (supports?|accepts?|takes?) text`, `unknown variant .?image_url`,
		`no endpoints found that support image`,
		`image_url.{0,40}(not supported|unsupported|is only supported)`,
		`missing (\bvision\b|image)`, `without vision`, `不支持.{0,6}图`, `图.{0,6}不支持`)
	textContent = pattern.AnyOf(
		`content.{0,40}(must be a string|should be a( valid)? string|expected (a )?.?string|参数非法|取值范围)`,
		`(valid|a) string.{0,40}content`, `invalid type: sequence, expected a string`,
		`content\.type`, `expected .?text.?$`)
)

// learnImages leaves out images that are refused. If the model takes no image, it leaves out all of them from then on.
// Otherwise one of them is bad, and the provider does not say which: the images since the last answer are left out, or
// all if there are none.
func learnImages(r *Refusal, q *Request, d *Demands) string {
	if len(q.images) == 0 || d.NoImages || !r.rejects() && r.Status != 404 {
		return ""
	}
	switch {
	case r.says(textOnly), r.rejects() && r.says(textContent):
		d.NoImages = true
		return "The model does not take images. A note stands in the place of each image."
	case r.rejects() && (r.says(aboutImages) || r.hasWord("image")):
		refused := q.newImages()
		for _, image := range refused {
			if d.Images == nil {
				d.Images = map[uint64]bool{}
			}
			d.Images[image] = true
		}
		return "The provider refused an image. A note stands in the place of each new image."
	}
	return ""
}

// sentImage is an image of a request. New is set if no answer of the model is after it.
type sentImage struct {
	sum uint64
	new bool
}

// imagesOf returns the images of a prompt that the demands do not leave out.
func (d *Demands) imagesOf(p *core.Prompt) (images []sentImage) {
	isNew := true
	for i := len(p.Items) - 1; i >= 0; i-- {
		if endsAnswer(p.Items[i]) {
			isNew = false
		}
		withParts(p.Items[i], func(parts []protocol.ContentItem) []protocol.ContentItem {
			for j := range parts {
				if isImage(&parts[j]) && d.note(parts[j].ImageURL) == "" {
					images = append(images, sentImage{sum(parts[j].ImageURL), isNew})
				}
			}
			return parts
		})
	}
	return images
}

// endsAnswer reports whether an item is of the model: the provider took what came before it.
func endsAnswer(item protocol.ResponseItem) bool {
	switch i := item.ResponseItemVariant.(type) {
	case *protocol.Message:
		return i.Role == protocol.RoleAssistant
	case *protocol.FunctionCall, *protocol.CustomToolCall, *protocol.LocalShellCall, *protocol.Reasoning:
		return true
	}
	return false
}

// newImages returns the sums of the images since the last answer, or of all.
func (q *Request) newImages() (sums []uint64) {
	all := []uint64{}
	for _, image := range q.images {
		all = append(all, image.sum)
		if image.new {
			sums = append(sums, image.sum)
		}
	}
	if len(sums) == 0 {
		return all
	}
	return sums
}

// withParts returns the item with other parts. It does not change the item.
func withParts(item protocol.ResponseItem,
	edit func([]protocol.ContentItem) []protocol.ContentItem) protocol.ResponseItem {
	switch i := item.ResponseItemVariant.(type) {
	case *protocol.Message:
		c := *i
		c.Content = edit(i.Content)
		return protocol.ResponseItem{ResponseItemVariant: &c}
	case *protocol.FunctionCallOutput:
		if i.Output.Parts != nil {
			c := *i
			c.Output.Parts = edit(i.Output.Parts)
			return protocol.ResponseItem{ResponseItemVariant: &c}
		}
	case *protocol.CustomToolCallOutput:
		if i.Output.Parts != nil {
			c := *i
			c.Output.Parts = edit(i.Output.Parts)
			return protocol.ResponseItem{ResponseItemVariant: &c}
		}
	}
	return item
}

func isImage(part *protocol.ContentItem) bool {
	return part.Type == protocol.ContentInputImage && part.ImageURL != ""
}

// sum identifies an image.
func sum(url string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(url))
	return h.Sum64()
}
