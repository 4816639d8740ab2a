import './app/root.ts'
