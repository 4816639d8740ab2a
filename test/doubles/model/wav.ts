/** A WAV file as speech servers stream it: 16-bit PCM, mono, of unknown size. */
export function wavOf(samples: ArrayLike<number>, rate = 24_000): Buffer {
  const file = Buffer.alloc(44 + samples.length * 2)
  file.write('RIFF\xff\xff\xff\xffWAVEfmt ', 0, 'latin1')
  file.writeUInt32LE(16, 16)
  file.writeUInt16LE(1, 20)
  file.writeUInt16LE(1, 22)
  file.writeUInt32LE(rate, 24)
  file.writeUInt32LE(rate * 2, 28)
  file.writeUInt16LE(2, 32)
  file.writeUInt16LE(16, 34)
  file.write('data\xff\xff\xff\xff', 36, 'latin1')
  for (let at = 0; at < samples.length; at += 1) file.writeInt16LE(samples[at] ?? 0, 44 + at * 2)
  return file
}

/** A tone as long as it takes to say the text. */
export function toneFor(text: string, rate = 24_000): Buffer {
  const length = Math.round(text.length * 0.06 * rate)
  return wavOf(
    Array.from({ length }, (_, at) => Math.round(8_000 * Math.sin((2 * Math.PI * 440 * at) / rate))),
    rate,
  )
}
