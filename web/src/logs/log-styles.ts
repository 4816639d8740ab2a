import { css } from 'lit'

export const logStyles = css`
  .frame {
    position: relative;
    display: flex;
    flex-direction: column;
    height: 100%;
  }
  .tools {
    flex-wrap: wrap;
    padding: var(--space-3) var(--space-4);
    border-bottom: 1px solid var(--line);
  }
  .tools input {
    flex-basis: 8rem;
    max-width: 30rem;
  }
  .tools .level {
    margin-inline-start: auto;
  }
  .state::before {
    content: '';
    width: 0.5rem;
    height: 0.5rem;
    border-radius: 50%;
    background: var(--ink-faint);
  }
  .state.live::before {
    background: var(--success);
  }
  .state.cut::before {
    background: var(--warning);
  }
  .gone {
    padding: var(--space-2) var(--space-4);
    background: var(--warning-soft);
    font-size: var(--text-sm);
  }
  .scroller {
    flex: 1;
    min-height: 0;
    padding: var(--space-2) 0;
  }
  .line {
    border-inline-start: 3px solid transparent;
    font: var(--text-sm) / 1.5 var(--font-mono);
  }
  .head {
    border-radius: 0;
    display: grid;
    grid-template-columns: auto 3rem minmax(0, 1fr);
    gap: 0 var(--space-3);
    width: 100%;
    padding: 0.0625rem var(--space-4);
    font: inherit;
  }
  button.head:focus-visible {
    outline-offset: -2px;
  }
  time {
    color: var(--ink-faint);
    font-variant-numeric: tabular-nums;
  }
  .line .level {
    color: var(--ink-faint);
    font-weight: 600;
  }
  .message {
    overflow-wrap: anywhere;
    white-space: pre-wrap;
  }
  .fields {
    color: var(--ink-faint);
  }
  .line.info .level {
    color: var(--accent);
  }
  .line.warn {
    border-color: var(--warning);
    background: color-mix(in oklch, var(--warning-soft) 60%, transparent);
  }
  .line.warn .level {
    color: var(--warning);
  }
  .line:is(.error, .fatal) {
    border-color: var(--danger);
    background: color-mix(in oklch, var(--danger-soft) 70%, transparent);
  }
  .line:is(.error, .fatal) .level {
    color: var(--danger);
  }
  .line:is(.warn, .error, .fatal) :is(time, .fields) {
    color: var(--ink-soft);
  }
  pre {
    max-height: 24rem;
    margin: 0 var(--space-4) var(--space-2);
    font-size: var(--text-xs);
  }
  .to-end {
    right: var(--space-5);
    bottom: var(--space-4);
  }
  [role='status']:has(.waiting) {
    padding: var(--space-4);
  }
  @media (max-width: 44rem) {
    .head {
      grid-template-columns: auto minmax(0, 1fr);
      padding: var(--space-1) var(--space-3);
    }
    .message {
      grid-column: 1 / -1;
    }
    .line + .line {
      border-top: 1px solid var(--line);
    }
  }
`
