"""All works of the general GPU benchmark. Each module adds those of its class to general_work.WORKS."""
import general_maps, general_products, general_reductions, general_sums, general_windows  # noqa: they fill WORKS
import general_work


def works():
    """In the order of the classes."""
    order = list(general_work.GOALS)
    return sorted(general_work.WORKS, key=lambda w: order.index(w.group))
