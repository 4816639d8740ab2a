/**
 * The text with its commands as the caller types them: `delegate verify` for `npm run ledger:verify`. The command line
 * sets the variable for its own process, so it is no setting of `src/config.ts`.
 */
export function asCalled(text: string): string {
  if (process.env.DELEGATE_CLI === undefined) return text
  return text
    .replace(/npm run --silent/g, 'npm run')
    .replace(/(npm run [a-z:-]+ \[?)-- /g, '$1')
    .replace(/npm run (?:ledger:|owner:)?((?:engine:|script:)?[a-z-]+)(?![\w:-])/g, (_, name: string) => {
      return `delegate ${name.replace(/^script:/, 'telephony ').replace(':', ' ')}`
    })
}
