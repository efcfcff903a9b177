package mcp

import (
	"fmt"
	"net/http"
	"strings"

	"appserver/core/pure/toolspec"
)

// maxKept bounds the files of one result.
const maxKept = 16

// keeper returns a function that stores bytes of a result for an owner, or nil if they are not stored.
func (p *Pool) keeper(owner string) toolspec.Keep {
	if p.Keep == nil {
		return nil
	}
	kept := 0
	return func(content []byte, mediaType string) (string, error) {
		if kept++; kept > maxKept {
			return "", fmt.Errorf("a result can have %d files", maxKept)
		}
		return p.Keep(owner, content, extension(content, mediaType))
	}
}

// extensions are the ends of names of files, by media type. The name must not come from the server.
const extensions = " application/pdf=.pdf application/zip=.zip application/gzip=.gz application/x-gzip=.gz " +
	"application/x-tar=.tar " +
	"application/json=.json application/wasm=.wasm application/vnd.sqlite3=.sqlite " +
	"application/vnd.openxmlformats-officedocument.wordprocessingml.document=.docx " +
	"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet=.xlsx " +
	"application/vnd.openxmlformats-officedocument.presentationml.presentation=.pptx " +
	"audio/wav=.wav audio/wave=.wav audio/x-wav=.wav audio/mpeg=.mp3 audio/mp3=.mp3 audio/ogg=.ogg application/ogg=.ogg " +
	"audio/flac=.flac audio/aac=.aac audio/mp4=.m4a audio/webm=.weba audio/midi=.mid audio/aiff=.aiff " +
	"video/mp4=.mp4 video/webm=.webm video/avi=.avi video/quicktime=.mov " +
	"image/png=.png image/jpeg=.jpg image/jpg=.jpg image/gif=.gif image/webp=.webp image/bmp=.bmp image/tiff=.tiff " +
	"image/x-icon=.ico image/svg+xml=.svg image/avif=.avif image/heic=.heic font/ttf=.ttf font/woff2=.woff2 " +
	"text/plain=.txt text/html=.html text/csv=.csv text/xml=.xml "

// extension returns the end of a file's name: that of its media type, else that of its content.
func extension(content []byte, mediaType string) string {
	sniffed, _, _ := strings.Cut(http.DetectContentType(content), ";")
	for _, known := range []string{mediaType, sniffed} {
		if _, rest, found := strings.Cut(extensions, " "+known+"="); found && known != "" {
			end, _, _ := strings.Cut(rest, " ")
			return end
		}
	}
	return ".bin"
}
