export const MAX_TITLE_CHARS = 200
/** A program's argument holds 128 KiB on Linux: this is half of it where every character takes three bytes. */
export const MAX_PROMPT_CHARS = 20_000
