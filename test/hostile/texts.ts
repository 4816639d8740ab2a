/** Texts that make careless code slow: a phrase, word or sign repeated to the given length. */
export function hostileTexts(chars: number): readonly (readonly [name: string, text: string])[] {
  return UNITS.map(([name, unit, ending]) => [name, unit.repeat(Math.ceil(chars / unit.length)) + ending])
}

/** The repeated unit and the ending of each text. */
const UNITS: readonly (readonly [name: string, unit: string, ending: string])[] = [
  ['polite requests', 'can you please ', 'now'],
  ['openings', 'please remember that ', 'so'],
  ['German politeness', 'könntest du bitte ', 'ja'],
  ['Russian politeness', 'пожалуйста, ', 'да'],
  ['adverbs', 'i really ', 'x'],
  ['claims', "I'm a bit of a ", 'fan'],
  ['negations', 'not never no longer ', '?'],
  ['conjunctions', 'and but because ', 'x'],
  ['reported speech', 'he said that she said that ', 'x'],
  ['dates', 'on Monday at 5 in two weeks ', 'x'],
  ['numbers', '1,000.00 2/3 ', 'x'],
  ['one long word', 'a', '!'],
  ['one long Chinese word', '请记住', '。'],
  ['Thai without spaces', 'กรุณาจำไว้', ''],
  ['Arabic', 'من فضلك ', '؟'],
  ['combining marks', 'e\u0301\u0323', 'x'],
  ['emoji', '👩‍👩‍👧‍👦', 'x'],
  ['spaces', ' ', 'x'],
  ['words separated by many spaces', `word${' '.repeat(500)}`, 'x'],
  ['line breaks', '\n', 'x'],
  ['lines of quoted mail', '> > \n', 'x'],
  ['full stops', '. ', 'x'],
  ['question marks', '?', 'x'],
  ['commas', 'a, ', 'x'],
  ['opening quotation marks', '"', 'x'],
  ['apostrophes', "'", 'x'],
  ['opening brackets', '[', 'x'],
  ['nested brackets', '[(', 'x'],
  ['unfinished links', '[a](', 'x'],
  ['emphasis that never closes', '_a*', 'x'],
  ['code fences', '```\n', 'x'],
  ['open tags', '<data ', 'x'],
  ['open elements', '<system', 'x'],
  ['table rows', '|a', '\n|-'],
  ['list items', '- [ ] ', 'x'],
  ['addresses', 'https://a.b/', 'x'],
]
