import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import { LightElement } from '../app/light-element.ts'
import { currentSetupStep, rememberSetupStep, type SetupStep, setupSteps } from '../app/setup-progress.ts'
import { iconButton } from '../design/icon-button.ts'
import { msg } from '../design/msg.ts'
import { prose } from '../design/prose.ts'
import './message-step.ts'
import './model-step.ts'
import './phone-step.ts'
import './timezone-step.ts'
import { authStyles } from './auth-styles.ts'

type StepText = { readonly heading: string; readonly lead: string }

const texts: Readonly<Record<SetupStep, StepText>> = {
  timezone: { heading: msg`Where are you?`, lead: msg`So that “tomorrow at nine” means your nine.` },
  model: {
    heading: msg`Choose a model`,
    lead: msg`A model gives your delegate its understanding. It runs at a service with your key, or on a machine of your own.`,
  },
  phone: {
    heading: msg`Connect a phone`,
    lead: msg`Calls and texts go through a telephony provider, such as Twilio, where you need an account. You can do this later.`,
  },
  message: { heading: msg`Say hello`, lead: msg`Send your first message. Only you can read this timeline.` },
}

/** Setup after the password. Each step is optional and saved on its own. */
@customElement('dg-welcome-page')
export class DgWelcomePage extends LightElement {
  protected override readonly sheets = [authStyles, prose, welcomeStyles]
  /** Null until the current step is known. */
  @state() private step: SetupStep | null = currentSetupStep()

  override connectedCallback(): void {
    super.connectedCallback()
    if (this.step === null) void this.findStep()
  }

  override firstUpdated(): void {
    this.querySelector<HTMLElement>('h1')?.focus()
  }

  /** Without a remembered step, as in another browser, starts at the first one that is not set. */
  private async findStep(): Promise<void> {
    let open: SetupStep = 'timezone'
    await this.app.attempt(async () => {
      const { entries: settings } = await this.app.http.get('/api/config')
      const isSet = (key: string) =>
        settings.some((setting) => setting.key === key && setting.set && setting.source !== 'default')
      open =
        (!isSet('TIMEZONE') && 'timezone') ||
        (!isSet('OPENAI_API_KEY') && !isSet('OPENAI_BASE_URL') && 'model') ||
        (!isSet('TELEPHONY_ACCOUNT_SID') && 'phone') ||
        'message'
    })
    await this.goTo(open)
  }

  private async goTo(step: SetupStep): Promise<void> {
    // Remember steps of the first setup only. Otherwise the timeline would redirect here.
    if (currentSetupStep() !== null) rememberSetupStep(step)
    this.step = step
    await this.updateComplete
    this.querySelector<HTMLElement>('h1')?.focus()
  }

  private readonly next = (): void => {
    const following = this.step === null ? undefined : setupSteps[setupSteps.indexOf(this.step) + 1]
    if (following) void this.goTo(following)
    else this.finish()
  }

  private readonly back = (): void => {
    const before = this.step === null ? undefined : setupSteps[setupSteps.indexOf(this.step) - 1]
    if (before) void this.goTo(before)
  }

  private readonly finish = (): void => {
    rememberSetupStep(null)
    this.app.navigate('/')
  }

  override render() {
    const { step } = this
    return html`<main class="auth">
      <div class="card auth-card welcome">
        ${step === null ? html`<p role="status">${msg`One moment…`}</p>` : this.stepView(step)}
      </div>
    </main>`
  }

  private stepView(step: SetupStep): TemplateResult {
    // The password was step 1.
    const number = setupSteps.indexOf(step) + 2
    const count = setupSteps.length + 1
    const { heading, lead } = texts[step]
    return html`
      <div class="actions progress soft">
        ${number > 2 ? iconButton('chevron', msg`Back`, this.back, 'quiet small previous', msg`Back`) : nothing}
        <progress aria-hidden="true" max=${count} value=${number}></progress>
        <span>${msg`Step ${number} of ${count}`}</span>
        <button class="button quiet small" @click=${this.finish}>${msg`Finish later`}</button>
      </div>
      <h1 tabindex="-1">${heading}</h1>
      <p class="lead">${lead}</p>
      ${this.bodyView(step)}
    `
  }

  private bodyView(step: SetupStep): TemplateResult {
    switch (step) {
      case 'timezone':
        return html`<dg-timezone-step .app=${this.app} .done=${this.next}></dg-timezone-step>`
      case 'model':
        return html`<dg-model-step .app=${this.app} .done=${this.next}></dg-model-step>`
      case 'phone':
        return html`<dg-phone-step .app=${this.app} .done=${this.next}></dg-phone-step>`
      case 'message':
        return html`<dg-message-step
          .app=${this.app}
          @answered=${() => rememberSetupStep(null)}
          .done=${this.next}
        ></dg-message-step>`
    }
  }
}

const welcomeStyles = css`
  .auth .welcome {
    width: min(30rem, 100%);
  }
  .welcome .progress {
    gap: var(--space-3);
    margin-bottom: var(--space-5);
    white-space: nowrap;
  }
  .welcome progress {
    flex: 1 1 2rem;
    max-width: 7.75rem;
  }
  .welcome .progress .button:last-child {
    margin-inline-start: auto;
  }
  .welcome .step-actions {
    justify-content: flex-end;
    gap: var(--space-2);
    margin-top: var(--space-2);
  }
  .welcome .progress .previous {
    margin-inline: calc(-1 * var(--space-2)) calc(-1 * var(--space-1));
    rotate: 180deg;
  }
  .welcome dg-connection-test.unused {
    display: none;
  }
  .welcome .step-talk {
    gap: var(--space-2);
  }
  .welcome .step-talk > * {
    max-width: 90%;
    padding: var(--space-2) var(--space-3);
    border-radius: var(--radius-lg);
    overflow-wrap: anywhere;
  }
  .welcome .step-talk .owner {
    white-space: pre-wrap;
    justify-self: end;
  }
  .welcome .step-talk .delegate {
    justify-self: start;
    background: var(--sunken);
  }
`
