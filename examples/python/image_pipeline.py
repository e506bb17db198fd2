"""An image pipeline: read a picture, blur, sharpen, find edges, apply a tone curve, and save the result as PNG.

    python image_pipeline.py [PICTURE [RESULT.png]]        default: docs/hillshade.png of Leat's source

Each step is one or two lines, with an index for the rows, the columns and the colors. Leat fuses the steps.
"""

import pathlib
import sys

import numpy as np
from PIL import Image

import leat

SOURCE = pathlib.Path(__file__).parents[2] / "docs" / "hillshade.png"

develop = leat.program("""
in picture, sigma = 1.5, amount = 0.8, contrast = 6
v[y,x,c] = f32(picture[y,x,c]) / 255
edge v clamp

# Blur: one axis after the other, with the weights of a Gaussian.
w[k] = f32(exp(-((k - 4) / sigma)**2 / 2)) where k in 0..9
total = sum(k: w[k])
rows[y,x,c] = sum(k in 0..9: w[k] * v[y,x+k-4,c]) / total
edge rows clamp
soft[y,x,c] = sum(k in 0..9: w[k] * rows[y+k-4,x,c]) / total

# Sharpen: add back what the blur took away. Then a tone curve, steepest at middle gray.
sharp[y,x,c] = v[y,x,c] + amount * (v[y,x,c] - soft[y,x,c])
tone[y,x,c] = 1 / (1 + exp(-contrast * (sharp[y,x,c] - 0.5)))
result[y,x,c] = u8(round(255 * clamp(tone[y,x,c], 0, 1)))

# Edges: the length of the gradient of the blurred picture.
edge soft clamp
edges[y,x,c] = hypot(soft[y,x+1,c] - soft[y,x-1,c], soft[y+1,x,c] - soft[y-1,x,c]) / 2
out result, edges
""")


def main(source=SOURCE, target="result.png"):
    with Image.open(source) as picture:
        result, edges = develop(picture.convert("RGB"), amount=1.0)
    assert result.dtype == np.uint8 and edges.dtype == np.float32
    Image.fromarray(result).save(target)
    print(f"{source}: {result.shape}, contrast {result.std():.1f}, strongest edge {edges.max():.3f}")
    print(f"written to {target}")


if __name__ == "__main__":
    main(*sys.argv[1:])
