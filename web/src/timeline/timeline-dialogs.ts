/** The dialogs of the timeline page, as one file that it loads when idle or when it needs one. */
export { askToErase } from '../app/erase-dialog.ts'
export { DgMomentDialog } from './moment-dialog.ts'
export { DgSearchDialog } from './search-dialog.ts'
export { DgWhyDialog } from './why-dialog.ts'
