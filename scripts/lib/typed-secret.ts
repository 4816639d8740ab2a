import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { Refused } from './command.ts'

/**
 * Reads one line from standard input; at a terminal, asks for it without showing it. Throws Refused with `refusal`
 * if the operator interrupts it.
 */
export async function readSecret(question: string, refusal: string): Promise<string> {
  if (!process.stdin.isTTY) return (await text(process.stdin)).split(/\r?\n/)[0] ?? ''
  process.stdout.write(question)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true })
  try {
    return await terminal.question('')
  } catch (cause) {
    // Ctrl-C or Ctrl-D instead of an answer.
    if (!(cause instanceof Error && cause.name === 'AbortError')) throw cause
    throw new Refused(refusal, { cause })
  } finally {
    terminal.close()
    process.stdout.write('\n')
  }
}
