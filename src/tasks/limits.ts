export const MAX_TITLE_CHARS = 200
/** At three bytes a character, half of the 128 KiB that Linux allows for one program argument. */
export const MAX_PROMPT_CHARS = 20_000
