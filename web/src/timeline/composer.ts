import { css, html, nothing, type PropertyValues } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import { AppElement } from '../app/app-element.ts'
import { keep, kept } from '../app/tab-storage.ts'
import { isPaste, takeText } from '../design/field.ts'
import { countText } from '../design/format.ts'
import { iconButton } from '../design/icon-button.ts'
import { msg } from '../design/msg.ts'
import type { ModelChoice } from '../services/service-words.ts'
import '../talk/voice-buttons.ts'
import './next-model.ts'
import { type Draft, editDraft, trimDraft } from './pasted.ts'

/** A chosen model, with the title of its service. */
type NextModel = ModelChoice & { readonly title: string }

const unsentKey = 'delegate.draft'
const setAsideKey = 'delegate.draft-set-aside'
const nextModelKey = 'delegate.next-model'
const ofSettings = msg`Use the model of the settings`
const noDraft: Draft = { text: '', pasted: [] }
/** Undo goes back further than this only in texts that count as pasted then. */
const rememberedDrafts = 500
/** The service accepts no more. */
const maxMessageChars = 100_000
/** A slow double click takes half a second. */
const endedForMs = 800

/**
 * The message input, also for changing the last message. Fires `send` with the draft, and `stop`. Unsent text
 * survives a reload.
 */
@customElement('dg-composer')
export class DgComposer extends AppElement {
  static override readonly styles = css`
    :host {
      padding: 0 var(--space-4) max(var(--space-3), env(safe-area-inset-bottom));
      background: var(--paper);
    }
    form,
    .buttons {
      display: flex;
      flex-wrap: wrap;
      align-items: flex-end;
      justify-content: flex-end;
      gap: var(--space-2);
    }
    form {
      max-width: calc(var(--column) - 2 * var(--space-4));
      margin: 0 auto;
      padding: 0.375rem 0.375rem 0.375rem 0;
      border: 1px solid var(--line-strong);
      border-radius: 1.5rem;
      background: var(--surface);
      box-shadow: var(--shadow-low);
    }
    form:focus-within {
      border-color: var(--accent);
      outline: 1px solid var(--accent);
    }
    textarea {
      /* With large text, the buttons go below. */
      flex: 1 0 8rem;
      min-width: 0;
      field-sizing: content;
      min-height: 2.25rem;
      max-height: min(40dvh, 20rem);
      padding: 0.375rem 0 0.375rem 1.125rem;
      border: 0;
      background: none;
      color: var(--ink);
      font: 400 1rem / 1.5 var(--font);
      resize: none;
      scrollbar-width: thin;
    }
    textarea:focus-visible {
      outline: none;
    }
    .next {
      width: fit-content;
      max-width: min(100%, var(--column) - 2 * var(--space-4));
      margin: 0 auto var(--space-1);
      padding-inline-start: var(--space-3);
      border-radius: 999px;
      font-size: var(--text-sm);
    }
    .next > p {
      display: flex;
      min-width: 0;
      white-space: pre;
    }
    .next span {
      overflow: hidden;
      text-overflow: ellipsis;
    }
    /* The name of the model is shortened first. */
    .next .title {
      flex: none;
      max-width: 35vw;
    }
    .next .button {
      color: inherit;
    }
    .stop {
      border-color: transparent;
    }
    .stop dg-icon {
      --icon-size: 0.875rem;
    }
    .hint {
      max-width: var(--column);
      margin: 0 auto;
      padding-top: var(--space-2);
      text-align: center;
    }
    @media (hover: none), (max-width: 48rem) {
      .hint {
        display: none;
      }
    }
  `
  @property({ type: Boolean }) working = false
  /** The reply has just ended. Stop keeps its place, so that a click meant for it starts no talk. */
  @state() private hasJustEnded = false
  /** Null for the model of the settings. */
  @state() private nextModel: NextModel | null = kept<NextModel>(nextModelKey)
  @state() private draft: Draft = kept<Draft>(unsentKey) ?? noDraft

  /** What the owner was writing before they began to change the last message. */
  private unsent: Draft = kept<Draft>(setAsideKey) ?? noDraft

  /** Takes the last message into the field, to be changed. */
  edit(draft: Draft): void {
    this.drafts.clear()
    this.setDraft(draft, this.draft.replaces === undefined ? this.draft : this.unsent)
    void this.updateComplete.then(() => {
      const area = this.renderRoot.querySelector('textarea')
      area?.setSelectionRange(draft.text.length, draft.text.length)
      area?.focus()
    })
  }

  private readonly leaveEdit = (): void => {
    this.drafts.clear()
    this.setDraft(this.unsent, noDraft)
    this.focus()
  }

  override focus(): void {
    this.renderRoot.querySelector('textarea')?.focus()
  }

  private setDraft(draft: Draft, unsent = this.unsent): void {
    this.draft = draft
    this.unsent = unsent
    keep(unsentKey, draft.text === '' && draft.replaces === undefined ? null : draft)
    keep(setAsideKey, unsent.text === '' ? null : unsent)
  }

  private setNextModel(model: NextModel | null): void {
    this.nextModel = model
    keep(nextModelKey, model)
  }

  /** Not on touch devices, where the keyboard would cover the timeline. */
  async focusAtDesk(): Promise<void> {
    await this.updateComplete
    if (matchMedia('(hover: hover)').matches) this.focus()
  }

  private readonly removeNextModel = (): void => {
    this.setNextModel(null)
    this.focus()
  }

  /** What this message has been, by text: the browser undoes edits without saying what had been pasted. */
  private readonly drafts = new Map<string, Draft>()

  private readonly edited = (event: InputEvent): void =>
    takeText((text) => {
      const { inputType } = event
      const earlier = inputType.startsWith('history') ? this.drafts.get(text) : undefined
      const draft = earlier ?? editDraft(this.draft, text, isPaste(inputType))
      this.drafts.set(text, draft)
      const [oldest] = this.drafts.keys()
      if (this.drafts.size > rememberedDrafts && oldest !== undefined) this.drafts.delete(oldest)
      this.setDraft(draft)
    })(event)

  /** The words are the owner's, to be read before they are sent. */
  private readonly dictated = ({ detail }: CustomEvent<string>): void => {
    const { text } = this.draft
    const space = text === '' || /\s$/.test(text) ? '' : ' '
    this.setDraft(editDraft(this.draft, `${text}${space}${detail}`, false))
    void this.focusAtDesk()
  }

  private readonly keyPressed = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && this.draft.replaces !== undefined) {
      event.preventDefault()
      this.leaveEdit()
      return
    }
    if (event.key === 'Escape' && this.working) {
      event.preventDefault()
      this.stop()
      return
    }
    if (event.key !== 'Enter' || event.shiftKey || isComposing(event)) return
    event.preventDefault()
    this.submit()
  }

  /** A dropped file would otherwise take the place of the page. */
  private refuseFiles(event: Event, data: DataTransfer | null): void {
    if (!data || data.files.length === 0 || data.types.includes('text/plain')) return
    event.preventDefault()
    this.app.toast(msg`Pictures and other files cannot be sent here.`, 'warning')
  }

  private readonly submit = (): void => {
    const draft = trimDraft(this.draft)
    if (draft.text === '') return
    const { length } = draft.text
    if (length > maxMessageChars) {
      this.app.toast(
        msg`The message has ${countText(length)} characters. At most ${countText(maxMessageChars)} can be sent.`,
        'warning',
      )
      return
    }
    const { nextModel } = this
    this.setDraft(this.unsent, noDraft)
    this.drafts.clear()
    this.setNextModel(null)
    const model = nextModel && { service: nextModel.service, model: nextModel.model }
    this.dispatchEvent(new CustomEvent('send', { detail: model ? { ...draft, model } : draft }))
  }

  private readonly stop = (): void => {
    if (this.working) this.dispatchEvent(new Event('stop'))
    this.focus()
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.get('working') !== true) return
    this.hasJustEnded = true
    setTimeout(() => {
      this.hasJustEnded = false
    }, endedForMs)
  }

  override updated(): void {
    const area = this.renderRoot.querySelector('textarea')
    if (!area || CSS.supports('field-sizing', 'content')) return
    area.style.height = 'auto'
    area.style.height = `${area.scrollHeight}px`
  }

  override render() {
    const { nextModel } = this
    const isStoppable = this.working || this.hasJustEnded
    return html`
      <div role="status">
        ${
          this.draft.replaces === undefined
            ? nothing
            : html`<div class="beside on next">
                <dg-icon name="edit"></dg-icon>
                <p>${msg`Editing your last message`}</p>
                <button class="button quiet small" type="button" @click=${this.leaveEdit}>${msg`Cancel`}</button>
              </div>`
        }
      </div>
      ${
        nextModel === null
          ? nothing
          : html`<div class="beside on next">
              <dg-icon name="spark"></dg-icon>
              <p>${msg`Next message:`} <span>${nextModel.model}</span><span class="title"> · ${nextModel.title}</span></p>
              ${iconButton('close', ofSettings, this.removeNextModel, 'quiet small', ofSettings)}
            </div>`
      }
      <form
        @submit=${(event: SubmitEvent) => {
          event.preventDefault()
          this.submit()
        }}
      >
        <textarea
          rows="1"
          dir="auto"
          placeholder=${msg`Message Delegate`}
          aria-label=${msg`Message`}
          enterkeyhint="send"
          autocomplete="off"
          .value=${this.draft.text}
          @input=${this.edited}
          @keydown=${this.keyPressed}
          @paste=${(event: ClipboardEvent) => this.refuseFiles(event, event.clipboardData)}
          @drop=${(event: DragEvent) => this.refuseFiles(event, event.dataTransfer)}
        ></textarea>
        <div class="buttons">
          <dg-next-model
            .app=${this.app}
            .chosen=${nextModel}
            ?writing=${this.draft.text !== ''}
            @pick=${({ detail }: CustomEvent<NextModel>) => this.setNextModel(detail)}
            @picked=${this.focusAtDesk}
          ></dg-next-model>
          <dg-voice-buttons
            .app=${this.app}
            ?writing=${isStoppable || this.draft.text !== ''}
            @dictated=${this.dictated}
          ></dg-voice-buttons>
          ${
            isStoppable
              ? iconButton('stop', msg`Stop the reply`, this.stop, 'round on stop', msg`Stop the reply (Esc)`)
              : nothing
          }
          <button
            class="button primary icon round"
            type="submit"
            aria-label=${msg`Send`}
            title=${msg`Send (Enter)`}
            ?disabled=${this.draft.text.trim() === ''}
          >
            <dg-icon name="arrow-up"></dg-icon>
          </button>
        </div>
      </form>
      <div class="tiny hint"><kbd>${msg`Enter`}</kbd> ${msg`to send,`} <kbd>${msg`Shift`}</kbd> <kbd>${msg`Enter`}</kbd> ${msg`for a new line`}</div>
    `
  }
}

/**
 * While an input method composes, Enter accepts a suggestion. Safari ends the composition before it fires
 * keydown, and then only key code 229 shows that the key belonged to the input method.
 */
function isComposing({ isComposing, keyCode }: KeyboardEvent): boolean {
  return isComposing || keyCode === 229
}
