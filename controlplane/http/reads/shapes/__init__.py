"""The shapes pages draw and the API answers. Times are the world's, money whole millionths."""
