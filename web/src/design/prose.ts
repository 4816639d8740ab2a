import { unsafeCSS } from 'lit'
import proseStyles from './prose.css?inline'

/** Rendered markdown. The page of a note, which has no script, takes the same file. */
export const prose = unsafeCSS(proseStyles)
