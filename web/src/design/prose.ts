import { unsafeCSS } from 'lit'
import proseStyles from './prose.css?inline'

/** Styles for rendered markdown, shared with the page of a note. */
export const prose = unsafeCSS(proseStyles)
