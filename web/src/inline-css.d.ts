/** A style sheet imported as text by Vite. */
declare module '*.css?inline' {
  const text: string
  export default text
}
