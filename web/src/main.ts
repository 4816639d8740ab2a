import './design/elements.ts'
import './app/root.ts'
