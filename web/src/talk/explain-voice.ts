import { explain, Refused } from '../api/http.ts'
import type { App } from '../app/app.ts'
import { msg } from '../design/msg.ts'

/** Codes of refusals because a model is missing. */
const missing = new Set(['no_voice_model', 'no_transcription_model', 'no_speech_model'])

/** Says why voice does not work, and where to change that. */
export function explainVoice(app: App, error: unknown): void {
  if (error instanceof Refused && missing.has(error.problem.code)) explainMissing(app, error.message)
  else app.toast(explain(error), 'warning')
}

/** Says which model is missing. */
export function explainMissing(app: App, text: string): void {
  app.toast(text, 'warning', {
    shownForMs: 12_000,
    actions: [{ label: msg`Open Settings`, run: () => app.navigate('/settings') }],
  })
}
