// Elements that every page may use.
import './design/icon.ts'
import './design/menu.ts'
import './design/page.ts'
import './design/state.ts'
import './design/toast.ts'
import './app/root.ts'
