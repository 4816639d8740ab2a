import { css, html, nothing } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import type { Memory } from '../../../src/http/contract/memories.ts'
import type { AppElement } from '../app/app-element.ts'
import { type Form, FormDialog, textIn } from '../app/form-dialog.ts'
import { areaView, choiceView, isPaste } from '../design/field.ts'
import { capitalised, plural, wordsText } from '../design/format.ts'
import { msg } from '../design/msg.ts'

const kinds = [
  'identity',
  'preference',
  'relation',
  'plan',
  'procedure',
  'episode',
] as const satisfies readonly Memory['kind'][]
const maxChars = 1000

/** A memory to edit or to merge. Without a kind, that stays as it is and is not shown. */
type Given = Pick<Memory, 'id' | 'text'> & Partial<Pick<Memory, 'kind'>>

/** Lets the owner write a memory: a new one, one in place of another, or one in place of several. */
export function writeMemory(host: AppElement, memories: readonly Given[], onSaved: () => void): void {
  Object.assign(new DgMemoryDialog(), { memories, onSaved }).openIn(host)
}

@customElement('dg-memory-dialog')
export class DgMemoryDialog extends FormDialog {
  static override readonly styles = css`
    textarea.input {
      min-height: 6rem;
      line-height: 1.5;
    }
    ul {
      margin: 0;
      gap: var(--space-1);
      padding-inline-start: var(--space-4);
    }
    li {
      overflow-wrap: anywhere;
      unicode-bidi: plaintext;
    }
  `
  /** None to add a new one. */
  @property({ attribute: false }) memories: readonly Given[] = []
  @property({ attribute: false }) onSaved!: () => void
  /** Some of the text may be the words of others. */
  private isPasted = false

  /** The memory whose kind the dialog proposes: of several, the one that says most. */
  private get proposed(): Given | undefined {
    return this.memories.toSorted((a, b) => b.text.length - a.text.length)[0]
  }

  protected override submit(data: FormData): Promise<boolean> {
    const text = textIn(data, 'text')
    const kind = kinds.find((each) => each === textIn(data, 'kind'))
    return this.submission.send(
      async () => {
        await this.save({ text, kind, pasted: this.isPasted })
        this.onSaved()
      },
      { text: text === '' && msg`Enter what to remember.` },
    )
  }

  private async save(body: {
    text: string
    kind: Memory['kind'] | undefined
    pasted: boolean
  }): Promise<void> {
    const { app, memories } = this
    const [first] = memories
    if (!first) {
      const { reinforcements } = await app.http.post('/api/memories', { body })
      app.toast(reinforcements > 0 ? msg`Delegate already remembered this.` : msg`Remembered.`)
      return
    }
    const ids = memories.map(({ id }) => id)
    if (ids.length > 1) await app.http.post('/api/memories/merge', { body: { ids, ...body } })
    else {
      const { id } = await app.http.put('/api/memories/{id}', { params: { id: first.id }, body })
      if (id === first.id) return
    }
    app.offerUndo(msg`Saved. Applies from your next message on.`, async () => {
      for (const id of ids) await app.http.post('/api/memories/{id}/restore', { params: { id } })
      app.toast(msg`Restored.`)
      this.onSaved()
    })
  }

  private readonly typed = ({ target, inputType }: InputEvent): void => {
    if (target instanceof HTMLTextAreaElement)
      this.isPasted = target.value !== '' && (this.isPasted || isPaste(inputType))
  }

  protected override form(): Form {
    const { memories, proposed } = this
    const { errors } = this.submission
    const isMerge = memories.length > 1
    const isNew = proposed === undefined
    return {
      heading: isMerge
        ? msg`Merge ${plural(memories.length, msg`memory`, msg`memories`)}`
        : isNew
          ? msg`Add a memory`
          : msg`Edit memory`,
      action: isMerge
        ? [msg`Merge`, msg`Merging…`]
        : isNew
          ? [msg`Add`, msg`Adding…`]
          : [msg`Save`, msg`Saving…`],
      fields: html`<div class="form" @input=${this.typed}>
        ${
          isMerge
            ? html`<ul aria-label=${msg`Memories to merge`}>
                ${memories.map(({ text }) => html`<li>${text}</li>`)}
              </ul>`
            : nothing
        }
        ${areaView({
          name: 'text',
          label: msg`What to remember`,
          value: memories.length > 1 ? memories.map(asSentence).join(' ') : (proposed?.text ?? ''),
          placeholder: msg`I am allergic to papaya.`,
          maxLength: maxChars,
          hint: hintOf(memories.length),
          error: errors.text,
        })}
        ${isNew || proposed.kind !== undefined ? this.kindView(proposed?.kind) : nothing}
      </div>`,
    }
  }

  private kindView(kind: Memory['kind'] | undefined) {
    const choices = kinds.map((each) => [each, capitalised(wordsText(each))] as const)
    return choiceView(
      'kind',
      msg`Kind`,
      kind ? choices : [['', msg`Decide by the words`], ...choices],
      kind ?? '',
    )
  }
}

const asSentence = ({ text }: Given) => (/[.!?…]$/.test(text) ? text : `${text}.`)

function hintOf(replaced: number): string {
  if (replaced === 0) return msg`One statement, complete in itself.`
  return msg`The earlier words are no longer used, nor learned again from what you said before.`
}
