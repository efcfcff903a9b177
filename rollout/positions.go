package rollout

import (
	"encoding/binary"
	"slices"
)

// linePosition is the position of a line, in bytes.
type linePosition struct {
	offset int64
	size   uint32
	file   uint32
}

// positions are the positions of lines.
type positions struct {
	// stored has the positions of the lines that a snapshot cache covers, positionSize bytes each. These lines are in
	// the file with the number storedIn.
	stored   []byte
	storedIn uint32
	// added has the positions of later lines.
	added []linePosition
}

// positionSize is the length of a stored offset and size.
const positionSize = 8 + 4

func (p *positions) len() int { return len(p.stored)/positionSize + len(p.added) }

func (p *positions) at(n int) linePosition {
	stored := len(p.stored) / positionSize
	if n >= stored {
		return p.added[n-stored]
	}
	text := p.stored[n*positionSize:]
	return linePosition{
		offset: int64(binary.BigEndian.Uint64(text)), size: binary.BigEndian.Uint32(text[8:]), file: p.storedIn,
	}
}

func (p *positions) add(at linePosition) { p.added = append(p.added, at) }

// clip returns the present positions. Later ones are added elsewhere.
func (p *positions) clip() positions {
	return positions{p.stored, p.storedIn, slices.Clip(p.added)}
}

// encode returns all positions in the form of stored, without their file: all lines must be in one file.
func (p *positions) encode() []byte {
	text := make([]byte, 0, p.len()*positionSize)
	text = append(text, p.stored...)
	for _, at := range p.added {
		text = binary.BigEndian.AppendUint64(text, uint64(at.offset))
		text = binary.BigEndian.AppendUint32(text, at.size)
	}
	return text
}
