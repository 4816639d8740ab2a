/** The German texts of the pages; see scripts/lib/page-languages.ts. */
declare module 'virtual:german' {
  const texts: Readonly<Record<string, string>>
  export default texts
}
