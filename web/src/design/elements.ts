/** Defines the elements that every page may use. */
import './icon.ts'
import './menu.ts'
import './page.ts'
import './state.ts'
import './toast.ts'
