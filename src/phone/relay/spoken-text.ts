/** The pace of slow speech in letters, of which a text has fewer than characters. */
const MS_A_LETTER = 80
/** How long the provider takes to begin to speak. */
const BEGINS_AFTER_MS = 400
/** How much longer than estimated a text may take before all of it counts as spoken. */
const SLACK_MS = 2_000

type Mark = { readonly name: string; readonly letters: number }

/**
 * What was sent to be spoken, and how much of it was. The provider reports which words it spoke: some of them as
 * they are spoken, and those before an interruption. Without a report, a clock estimates at the pace of slow speech
 * when all of it was spoken, because the silence of a call begins there. Words are compared by their letters and
 * digits, because the provider may change everything else.
 */
export function createSpokenText(options: {
  /** Monotonic. */
  readonly nowMs: () => number
  /** Everything up to a mark was spoken. */
  readonly spoken: (mark: string) => void
}) {
  const { nowMs } = options
  let letters = ''
  let heard = 0
  let isReported = false
  let marks: Mark[] = []
  /** When the letter after the last heard one began. */
  let sinceMs = 0
  let timer: NodeJS.Timeout | undefined

  const estimate = () => {
    const paced = heard + Math.floor((nowMs() - sinceMs) / MS_A_LETTER)
    return Math.max(heard, Math.min(paced, letters.length))
  }
  const arm = () => {
    clearTimeout(timer)
    const dueMs = sinceMs + (letters.length - heard) * MS_A_LETTER + SLACK_MS - nowMs()
    timer = setTimeout(() => advance(letters.length), dueMs).unref()
  }
  const forget = () => {
    clearTimeout(timer)
    letters = ''
    heard = 0
    isReported = false
    marks = []
  }

  function advance(to: number): void {
    heard = Math.max(heard, to)
    sinceMs = nowMs()
    const passed = marks.filter((mark) => mark.letters <= heard)
    marks = marks.filter((mark) => mark.letters > heard)
    if (marks.length === 0) forget()
    else arm()
    for (const { name } of passed) options.spoken(name)
  }

  return {
    sent(text: string): void {
      if (letters === '') sinceMs = nowMs() + BEGINS_AFTER_MS
      letters += lettersOf(text)
    },
    marked(name: string): void {
      marks.push({ name, letters: letters.length })
      arm()
    },
    /** The provider spoke these words, which may be any part of the text. */
    reported(words: string): void {
      const reported = lettersOf(words)
      const at = letters.indexOf(reported, heard)
      // Words that are not found were spoken before a cut, or are written in another way.
      if (reported === '' || at < 0) return
      isReported = true
      advance(at + reported.length)
    },
    /** The caller interrupted after these words, which are the last ones that were heard. */
    interrupted(words: string): void {
      const last = lettersOf(words)
      if (last === '') return
      // They may be of the last sentence only, which may occur twice.
      const near = isReported ? heard : estimate()
      const ends = endsOf(letters, last).toSorted((a, b) => Math.abs(a - near) - Math.abs(b - near))
      advance(ends[0] ?? near)
    },
    /** The provider stopped speaking, wherever it was. */
    broke(): void {
      advance(isReported ? heard : estimate())
      forget()
    },
    /** Forgets what is not spoken yet. */
    forget,
  }
}

/** Where each occurrence of `part` ends. */
function endsOf(whole: string, part: string): number[] {
  const ends: number[] = []
  for (let at = whole.indexOf(part); at >= 0; at = whole.indexOf(part, at + 1)) ends.push(at + part.length)
  return ends
}

function lettersOf(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
}
