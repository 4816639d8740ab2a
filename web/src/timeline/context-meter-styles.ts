import { css } from 'lit'

export const contextMeterStyles = css`
  .gauge {
    gap: 0.375rem;
    min-height: 2.25rem;
    padding: 0 var(--space-2);
    font-size: var(--text-sm);
    font-variant-numeric: tabular-nums;
  }
  .ring {
    width: 1.25rem;
    height: 1.25rem;
    fill: none;
    stroke-width: 3;
  }
  .ring .track {
    stroke: color-mix(in oklch, var(--line-strong) 45%, transparent);
  }
  .ring .used {
    stroke: var(--accent);
  }
  .ring.full .used {
    stroke: var(--warning);
  }
  [popover] {
    width: min(23rem, calc(100vw - 1rem));
    max-height: calc(100dvh - 5rem);
    padding: var(--space-4);
    font-size: var(--text-sm);
    overflow-y: auto;
  }
  h2 {
    margin-bottom: var(--space-2);
    font-size: var(--text-md);
    font-weight: 600;
  }
  dl {
    display: grid;
    grid-template-columns: auto minmax(0, 1fr);
    gap: var(--space-1) var(--space-3);
    margin: var(--space-3) 0;
  }
  dt {
    color: var(--ink-soft);
  }
  .callout,
  #reason:not(:empty),
  .news:not(:empty) {
    margin-top: var(--space-2);
  }
  .news {
    color: var(--success);
  }
  @media (max-width: 30rem) {
    .percent {
      display: none;
    }
  }
`
