import { dismiss, toasts } from "../toasts";
import { Icon } from "./icons";

export function Toaster() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((one) => (
        <div key={one.number} class="toast" data-kind={one.kind}>
          <div>
            <p>{one.text}</p>
            {one.details.length > 0 && (
              <ul>
                {one.details.slice(-5).map((line, number) => (
                  <li key={number}>{line}</li>
                ))}
              </ul>
            )}
          </div>
          <button class="icon-only" aria-label="Dismiss" onClick={() => dismiss(one.number)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
