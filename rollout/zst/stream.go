package zst

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"appserver/platform/disk"
)

// Limits in bytes. maxWindow limits the memory of a decoder; a compressor at its highest usual level needs 8 MiB.
const (
	maxWindow  = 32 << 20
	maxContent = disk.MaxSize
)

// errTooLong is the problem of a content above maxContent.
var errTooLong = disk.Cause{
	Text: "its content is longer than 2 GiB",
	Next: "the file is unchanged; if you trust it, decompress it with zstd",
}

// stream decompresses a file from its start.
type stream struct {
	fs      *FS
	decoder *zstd.Decoder
	source  *source
	// at is the number of bytes that were decompressed.
	at int64
}

// source reads a file from its start. err is the first error of the disk.
type source struct {
	file disk.File
	at   int64
	err  error
}

// Read reads the next bytes of the compressed file.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.file.ReadAt(p, s.at)
	s.at += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = cmp.Or(s.err, err)
	}
	return n, err
}

// newStream reuses the decoder of a closed stream, because its buffers take longer to make than a short file to read.
func (z *FS) newStream(raw disk.File) (*stream, error) {
	from := &source{file: raw}
	decoder, ok := z.decoders.Get().(*zstd.Decoder)
	if !ok {
		var err error
		if decoder, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(maxWindow), zstd.WithDecoderMaxWindow(maxWindow)); err != nil {
			return nil, err
		}
	}
	if err := decoder.Reset(from); err != nil {
		return nil, err
	}
	return &stream{fs: z, decoder: decoder, source: from}, nil
}

// Read reads the next bytes of the content. At the end of the content, the error is io.EOF, or a *problemError.
func (s *stream) Read(p []byte) (int, error) {
	if s.at >= maxContent {
		return 0, &problemError{errTooLong}
	}
	n, err := s.decoder.Read(p[:min(int64(len(p)), maxContent-s.at)])
	s.at += int64(n)
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return n, err
	case s.source.err != nil:
		return n, s.source.err
	}
	return n, &problemError{damage(s.at, err)}
}

// close makes the decoder available to other streams.
func (s *stream) close() {
	if s.decoder.Reset(nil) == nil {
		s.fs.decoders.Put(s.decoder)
	}
}

// problemError ends the content of a damaged file.
type problemError struct{ disk.Cause }

// Unwrap returns the cause, which has the next action.
func (p *problemError) Unwrap() error { return p.Cause }

// damage returns the problem of a file whose content ends before its end.
func damage(at int64, err error) disk.Cause {
	return disk.Cause{
		Text: fmt.Sprintf("its compression is damaged after %d bytes of content (%v)", at, err),
		Next: "the lines before that are read; 'appserver rollout repair' writes them to a new file and keeps this one",
	}
}
