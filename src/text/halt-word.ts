/**
 * Whether the owner's words are nothing but the keyword that halts the delegate. Carriers reserve STOP, END, CANCEL
 * and others, but not HALT. Only the owner's own number may use it.
 */
export function isHaltWord(words: string): boolean {
  return /^(?:delegate[\s,.!:;-]+)?halt[\s.,!?…]*$/i.test(words.trim())
}

/** The same on the phone, where "halt" alone may only interrupt a reply, as in German. */
export function isSpokenHalt(words: string): boolean {
  return /^delegate[\s,.!:;-]+halt[\s.,!?…]*$/i.test(words.trim())
}
